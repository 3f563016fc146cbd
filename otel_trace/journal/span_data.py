"""Spans, events, links and processes as plain data, the same whoever wrote them and whoever reads them."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from otel_trace.journal.reader import Damage

KINDS = ("internal", "server", "client", "producer", "consumer")
STATUSES = ("unset", "ok", "error")


@dataclass(slots=True)
class EventData:
    """Something that happened during a span."""

    name: str
    time_ns: int
    attributes: dict[str, Any]


@dataclass(slots=True)
class LinkData:
    """Another span that this one points to."""

    trace_id: str
    span_id: str
    attributes: dict[str, Any]


@dataclass(slots=True)
class ProcessData:
    """One process of a run."""

    key: str
    pid: int
    is_alive: bool
    host: str
    run_id: str
    resource: dict[str, Any]


@dataclass(slots=True)
class SpanData:
    """One span, from whatever source."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str | None
    start_ns: int
    end_ns: int | None
    process: ProcessData
    kind: str = "internal"
    attributes: dict[str, Any] = field(default_factory=dict)
    events: list[EventData] = field(default_factory=list)
    links: list[LinkData] = field(default_factory=list)
    status: str = "unset"
    status_message: str = ""
    scope: str = ""
    scope_version: str = ""
    trace_state: str = ""
    dropped: tuple[int, int, int] = (0, 0, 0)
    last_ns: int = 0
    is_parent_remote: bool = False

    @property
    def is_open(self) -> bool:
        """Say whether the span has not ended."""
        return self.end_ns is None

    @property
    def is_interrupted(self) -> bool:
        """Say whether the span will never end, since its process is gone."""
        return self.end_ns is None and not self.process.is_alive

    @property
    def resource(self) -> dict[str, Any]:
        """Give the attributes of the process."""
        return self.process.resource


@dataclass(slots=True)
class RunData:
    """Everything that the journals of one run hold."""

    spans: list[SpanData] = field(default_factory=list)
    processes: list[ProcessData] = field(default_factory=list)
    damage: Damage = field(default_factory=Damage)
    ledger: Counter[str] = field(default_factory=Counter)
