"""One line per trace for a series of like traces: the steps of a loop, or what ran outside of steps.

Of a long series the line shows the first and the last, the slowest, and what failed or never ended; the rest is counted
at its place. A stage's time is that of the slowest rank.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median_low

from otel_trace.view.details import list_details
from otel_trace.view.facts import get_elapsed_ns, get_rank, get_stage, is_notable
from otel_trace.view.model import Span, Trace
from otel_trace.view.plain import clean_text
from otel_trace.view.units import format_count, format_duration

_NUM_FIRST = 3
_NUM_LAST = 5
_NUM_SLOWEST = 2
_NUM_NOTABLE = 5
_MIN_FOR_SLOWEST = 5
_STANDS_OUT = 1.2


@dataclass(frozen=True, slots=True)
class Series:
    """Traces of one kind, in the order they started; `loop` is empty outside of steps."""

    loop: str
    is_steps: bool
    traces: Sequence[Trace]
    is_only: bool = False


def group_series(traces: Iterable[Trace]) -> list[Series]:
    """Return traces by loop, in the order of their first; what is outside of steps comes first."""
    groups: dict[tuple[bool, str], list[Trace]] = {}
    for trace in traces:
        groups.setdefault((trace.step is not None, trace.loop), []).append(trace)
    is_only = len(groups) == 1
    series = [Series(loop, is_steps, group, is_only) for (is_steps, loop), group in groups.items()]
    return sorted(series, key=lambda one: one.is_steps)


def is_trace_notable(trace: Trace) -> bool:
    """Tell whether a trace holds an error or a span that never ended."""
    return any(map(is_notable, trace.spans))


def measure_trace(trace: Trace, now_ns: int) -> int:
    """Return how long a trace took, or has taken so far."""
    is_running = any(span.is_open and span.process.is_alive for span in trace.spans)
    return (max(now_ns, trace.end_ns) if is_running else trace.end_ns) - trace.start_ns


def list_overview(series: Series, now_ns: int, *, is_full: bool = False) -> list[list[str]]:
    """Return the table of a series: a head, then a row for each trace that is worth one."""
    traces = series.traces
    took = [measure_trace(trace, now_ns) for trace in traces]
    slowest = _find_slowest(traces, took)
    chosen = range(len(traces)) if is_full else _choose_rows(traces, took)
    stages = list(
        dict.fromkeys(stage for index in chosen for stage in _measure_stages(traces[index], now_ns))
    )
    rows = [["step" if series.is_steps else "trace", "took", *map(clean_text, stages), "", ""]]
    before = -1
    for index in chosen:
        if index > before + 1:
            rows.append(["...", f"{index - before - 1:,} more"])
        times = _measure_stages(traces[index], now_ns)
        rows.append(
            [
                _name_row(traces[index], series),
                f"{_mark_open(traces[index])}{format_duration(took[index])}",
                *(times.get(stage, "") for stage in stages),
                _mark_row(traces[index], is_slowest=index == slowest),
                "  ".join(_list_row_values(traces[index], series)),
            ]
        )
        before = index
    return rows


def say_series(series: Series, now_ns: int) -> str:
    """Return the heading of a series: how many, how long."""
    took = [measure_trace(trace, now_ns) for trace in series.traces]
    if not series.is_steps:
        return f"{'' if series.is_only else 'Outside of steps: '}{format_count(len(took), 'trace')}"
    name = clean_text(series.loop) or "Steps"
    return f"{name}: {format_count(len(took), 'step')}, median {format_duration(median_low(took))}"


def _choose_rows(traces: Sequence[Trace], took: Sequence[int]) -> Sequence[int]:
    count = len(traces)
    if count <= _NUM_FIRST + _NUM_LAST + _NUM_SLOWEST + _NUM_NOTABLE:
        return range(count)
    slowest = sorted(range(count), key=lambda index: -took[index])[:_NUM_SLOWEST]
    notable = [index for index in range(count) if is_trace_notable(traces[index])]
    chosen = {*range(_NUM_FIRST), *range(count - _NUM_LAST, count), *slowest}
    return sorted(chosen.union(notable[:1], notable[1 - _NUM_NOTABLE :]))


def _find_slowest(traces: Sequence[Trace], took: Sequence[int]) -> int | None:
    """Return the place of the slowest trace that ended, None where none stands out."""
    ended = [index for index, trace in enumerate(traces) if not _mark_open(trace)]
    if len(ended) < _MIN_FOR_SLOWEST:
        return None
    slowest = max(ended, key=took.__getitem__)
    return slowest if took[slowest] > _STANDS_OUT * median_low(took) else None


def _measure_stages(trace: Trace, now_ns: int) -> dict[str, str]:
    """Return the time of each stage in the order they began: the sum of its spans on the rank that took longest."""
    times: dict[str, dict[str, int]] = {}
    is_open: set[str] = set()
    for span in trace.spans:
        stage, parent = get_stage(span), trace.parent(span)
        if stage and (parent is None or get_stage(parent) != stage):
            by_process = times.setdefault(stage, {})
            by_process[span.process.key] = by_process.get(span.process.key, 0) + get_elapsed_ns(span, now_ns)
            is_open.update({stage} if span.is_open else ())
    return {
        stage: f"{'>' if stage in is_open else ''}{format_duration(max(by_process.values()))}"
        for stage, by_process in times.items()
    }


def _name_row(trace: Trace, series: Series) -> str:
    return f"{trace.step:,}" if series.is_steps else trace.trace_id[:8]


def _mark_open(trace: Trace) -> str:
    return ">" if any(span.is_open for span in trace.spans) else ""


def _mark_row(trace: Trace, *, is_slowest: bool) -> str:
    if any(span.status == "error" for span in trace.spans):
        return "error"
    if any(span.is_interrupted for span in trace.spans):
        return "interrupted"
    if any(span.is_open for span in trace.spans):
        return "open"
    return "slowest" if is_slowest else ""


def _list_row_values(trace: Trace, series: Series) -> Iterator[str]:
    if not series.is_steps:
        yield clean_text(trace.name)
        if len(trace.spans) > 1:
            yield format_count(len(trace.spans), "span")
    yield from next(filter(None, (list_details(span.attributes) for span in _list_step_level(trace))), [])


def _list_step_level(trace: Trace) -> list[Span]:
    """Return the spans that stand for the step itself, rank by rank."""
    level = [span for root in trace.roots for span in (root, *trace.children(root)) if not get_stage(span)]
    return sorted(level, key=lambda span: get_rank(span.process) or 0)
