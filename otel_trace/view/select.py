"""Narrow a run to one trace, one step or one rank; what is left are traces of the same kind."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from otel_trace.view.errors import NothingSelected
from otel_trace.view.facts import get_rank, get_step
from otel_trace.view.model import Run, Span, Trace
from otel_trace.view.plain import clean_text

_MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class Selection:
    """What to show of a run; None means all."""

    trace_id: str | None = None
    step: int | None = None
    rank: int | None = None


def select_traces(run: Run, wanted: Selection) -> Sequence[Trace]:
    """Return the traces of `run` cut to what is wanted; raises NothingSelected naming what there is."""
    traces = run.traces
    if wanted.trace_id is not None:
        traces = _select_id(traces, wanted.trace_id)
    if wanted.step is not None:
        traces = _select_step(traces, wanted.step)
    if wanted.rank is not None:
        traces = _select_rank(traces, wanted.rank)
    return traces


def _select_id(traces: Sequence[Trace], beginning: str) -> Sequence[Trace]:
    found = [trace for trace in traces if trace.trace_id.startswith(beginning.lower())]
    if not found:
        known = ", ".join(trace.trace_id for trace in traces[-_MAX_NAMED:])
        raise NothingSelected(
            f"no trace {clean_text(beginning)!r} in this run; its last traces: {known or 'none'}"
        )
    return found


def _select_step(traces: Sequence[Trace], step: int) -> Sequence[Trace]:
    found = list(_cut(traces, lambda trace: _list_step_spans(trace, step)))
    if not found:
        steps = [trace.step for trace in traces if trace.step is not None]
        known = f"it has {min(steps):,} to {max(steps):,}" if steps else "nothing in it belongs to a step"
        raise NothingSelected(f"no step {step} in this run; {known}")
    return found


def _select_rank(traces: Sequence[Trace], rank: int) -> Sequence[Trace]:
    found = list(_cut(traces, lambda trace: [span for span in trace.spans if get_rank(span.process) == rank]))
    if not found:
        ranks = sorted(
            {get_rank(process) for trace in traces for process in trace.processes} - {None}, key=str
        )
        known = f"there are {', '.join(map(str, ranks[:16]))}" if ranks else "its processes have no ranks"
        raise NothingSelected(f"no rank {rank} in this run; {known}")
    return found


def _cut(traces: Sequence[Trace], choose: Callable[[Trace], Sequence[Span]]) -> Iterator[Trace]:
    for trace in traces:
        spans = choose(trace)
        if spans:
            yield trace if len(spans) == len(trace.spans) else Trace(trace.trace_id, spans)


def _list_step_spans(trace: Trace, step: int) -> Sequence[Span]:
    """Return the spans of a step, with all that stand below them whether they know their step or not."""
    if trace.step == step:
        return trace.spans
    if not any(get_step(span) == step for span in trace.spans):
        return ()
    inside: set[str] = set()
    stack = [(span, False) for span in trace.roots]
    while stack:
        span, is_inside = stack.pop()
        number = get_step(span)
        is_inside = is_inside if number is None else number == step
        if is_inside:
            inside.add(span.span_id)
        stack.extend((child, is_inside) for child in trace.children(span))
    return [span for span in trace.spans if span.span_id in inside]
