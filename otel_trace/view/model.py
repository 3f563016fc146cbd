"""The read model: a run is a list of traces, a trace is a forest of spans, the same from every source.

What always holds: a span stands once in its trace; every span is reachable from a root. A span whose parent is not in
the trace is a root too, so a tree still stands when rank 0 has died. Damaged parents that lead in a circle are cut at
the earliest span of the circle. Nothing here recurses: a trace may be as deep as it likes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from otel_trace.journal.reader import Damage
from otel_trace.journal.spans import ProcessData, SpanData
from otel_trace.view.facts import get_last_ns, get_loop, get_step

Span = SpanData


def _by_start(span: Span) -> tuple[int, str]:
    return (span.start_ns, span.span_id)


@dataclass(frozen=True, eq=False)
class Trace:
    """The spans of one trace id, in the order they started."""

    trace_id: str
    spans: Sequence[Span]

    @cached_property
    def roots(self) -> list[Span]:
        """The spans without a parent in this trace."""
        return [span for span in self.spans if span.span_id not in self._parents]

    def children(self, span: Span) -> Sequence[Span]:
        """Return the spans directly below `span`, in the order they started."""
        return self._children.get(span.span_id, ())

    def parent(self, span: Span) -> Span | None:
        """Return the span directly above `span`, None for a root."""
        return self._parents.get(span.span_id)

    @property
    def name(self) -> str:
        """The name of the first root."""
        return self.roots[0].name if self.roots else ""

    @property
    def start_ns(self) -> int:
        """When the first span started."""
        return self.spans[0].start_ns if self.spans else 0

    @cached_property
    def end_ns(self) -> int:
        """The last moment that is known of any span."""
        return max(map(get_last_ns, self.spans), default=0)

    @cached_property
    def step(self) -> int | None:
        """The number of the step that the trace shows, None outside of steps."""
        return get_step(self.roots[0]) if self.roots else None

    @cached_property
    def loop(self) -> str:
        """The loop that the step belongs to, empty outside of steps."""
        return get_loop(self.roots[0]) if self.roots else ""

    @cached_property
    def processes(self) -> list[ProcessData]:
        """The processes that have spans here."""
        return list({span.process.key: span.process for span in self.spans}.values())

    @cached_property
    def _parents(self) -> dict[str, Span]:
        known = {span.span_id: span for span in self.spans}
        parents = {
            span.span_id: known[span.parent_id]
            for span in self.spans
            if span.parent_id in known and span.parent_id is not None
        }
        for span in _find_circles(self.spans, parents):
            del parents[span.span_id]
        return parents

    @cached_property
    def _children(self) -> dict[str, list[Span]]:
        children: dict[str, list[Span]] = {}
        for span in self.spans:
            parent = self._parents.get(span.span_id)
            if parent is not None:
                children.setdefault(parent.span_id, []).append(span)
        return children


def _find_circles(spans: Sequence[Span], parents: Mapping[str, Span]) -> list[Span]:
    """Return for each circle of parents its earliest span."""
    found: list[Span] = []
    walk_of: dict[str, int] = {}
    for number, start in enumerate(spans):
        path: list[Span] = []
        span: Span | None = start
        while span is not None and span.span_id not in walk_of:
            walk_of[span.span_id] = number
            path.append(span)
            span = parents.get(span.span_id)
        if span is not None and walk_of[span.span_id] == number:
            found.append(min(path[path.index(span) :], key=_by_start))
    return found


@dataclass(frozen=True, eq=False)
class Run:
    """One job as it was recorded: its traces in the order they started; `notes` say what was not read of it."""

    run_id: str
    traces: Sequence[Trace]
    processes: Sequence[ProcessData] = ()
    damage: Damage = field(default_factory=Damage)
    ledger: Mapping[str, int] = field(default_factory=dict)
    source: str = ""
    notes: Sequence[str] = ()

    @cached_property
    def spans(self) -> list[Span]:
        """All spans, trace by trace."""
        return [span for trace in self.traces for span in trace.spans]


def group_traces(spans: Iterable[Span]) -> list[Trace]:
    """Return `spans` as traces ordered by start; of the same span seen twice the one that ended stays."""
    kept: dict[str, dict[str, Span]] = {}
    for span in spans:
        trace = kept.setdefault(span.trace_id, {})
        known = trace.get(span.span_id)
        if known is None or (known.end_ns is None and span.end_ns is not None):
            trace[span.span_id] = span
    traces = [Trace(trace_id, sorted(trace.values(), key=_by_start)) for trace_id, trace in kept.items()]
    return sorted(traces, key=lambda trace: (trace.start_ns, trace.trace_id))
