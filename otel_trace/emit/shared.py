"""What many spans share: the facts of a step and its stages, the ids of a trace."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opentelemetry import context as context_api
from opentelemetry.trace import TraceFlags, TraceState

from otel_trace import names
from otel_trace.describe.facts import Facts

FACTS_KEY = context_api.create_key("otel-trace-facts")
_MAX_STAGES = 1000


class SharedFacts(Facts):
    """The facts of a step, or of a stage within it."""

    __slots__ = ("_stages",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._stages: dict[str, SharedFacts] = {}

    def at_stage(self, stage: str) -> "SharedFacts":
        """Give the facts of a stage; one object for each."""
        facts = self._stages.get(stage)
        if facts is None:
            facts = SharedFacts({**self.data, names.STAGE: stage})
            if len(self._stages) < _MAX_STAGES:
                self._stages[stage] = facts
        return facts


NO_FACTS = SharedFacts({})


@dataclass(frozen=True)
class SpanPlan:
    """The ids a span of a step must have."""

    trace_id: int
    span_id: int
    parent_id: int | None


class TraceShare:
    """What all spans of one trace have in common."""

    __slots__ = ("data", "flags", "more", "number", "state")

    def __init__(self, number: int, flags: TraceFlags, state: TraceState) -> None:
        self.number = number
        self.data = number.to_bytes(16, "big")
        self.flags = flags
        self.state = state
        self.more = {"t": state.to_header()} if state else None
