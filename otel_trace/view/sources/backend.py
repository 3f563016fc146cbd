"""What a backend must be able to say, so that a run can be read from it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from otel_trace.journal.span_data import SpanData

MAX_TRACES = 1_000
SECOND = 1_000_000_000
DAY = 86_400 * SECOND


@dataclass(frozen=True, slots=True)
class RemoteRun:
    """A run that a backend knows: when it was last seen to start something, and under which service names."""

    run_id: str
    newest_ns: int
    services: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundTraces:
    """The ids of a run's traces; `has_more` when only the newest were asked for."""

    trace_ids: list[str]
    has_more: bool = False


class Backend(Protocol):
    """A store of traces that can be searched."""

    name: str
    url: str

    def list_runs(self, *, only_newest: bool = False) -> list[RemoteRun]:
        """Return the runs of the last days, newest first; at least the newest."""

    def find_traces(self, run_id: str, step: int | None = None) -> FoundTraces:
        """Return the traces of a run, or of one step of it."""

    def read_trace(self, trace_id: str) -> Any:
        """Return a trace as OTLP JSON, None when it is not known."""


def gather_runs(spans: Iterable[SpanData]) -> list[RemoteRun]:
    """Return the runs that spans belong to, newest first."""
    newest: dict[str, int] = {}
    services: dict[str, set[str]] = {}
    for span in spans:
        run_id = span.process.run_id
        if run_id:
            newest[run_id] = max(newest.get(run_id, 0), span.start_ns)
            services.setdefault(run_id, set()).add(str(span.resource.get("service.name", "")))
    runs = [RemoteRun(run_id, moment, tuple(sorted(services[run_id]))) for run_id, moment in newest.items()]
    return sorted(runs, key=lambda run: -run.newest_ns)
