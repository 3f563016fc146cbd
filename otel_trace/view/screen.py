"""A whole run on the screen: what it was, its steps in lines, one trace as a tree, and what is missing.

Few traces are all drawn. Of a long series the overview is shown and one tree: the last that failed or never ended, else
the last.
"""

import textwrap
from collections.abc import Iterator, Sequence

from rich.text import Text

from otel_trace.journal.ledger import REASONS
from otel_trace.view.facts import get_rank, get_world_size
from otel_trace.view.look import Look
from otel_trace.view.model import Run, Trace
from otel_trace.view.overview import Series, group_series, is_trace_notable, list_overview, say_series
from otel_trace.view.plain import clean_text
from otel_trace.view.rows import fill_lines
from otel_trace.view.table import lay_out_table
from otel_trace.view.tree import draw_trace
from otel_trace.view.units import format_count, format_duration, format_moment, format_size

_MAX_TREES = 3
_MAX_SERIES = 6


def draw_run(run: Run, traces: Sequence[Trace], look: Look) -> Iterator[Text]:
    """Yield the lines for the chosen traces of a run."""
    yield from _draw_head(run, look)
    all_series = group_series(traces)
    num_shown = len(all_series) if look.limit is None else _MAX_SERIES
    for series in all_series[:num_shown]:
        if len(series.traces) > _MAX_TREES:
            yield from _draw_series(series, look)
        else:
            for trace in series.traces:
                yield from _draw_tree(trace, look)
    if all_series[num_shown:]:
        yield Text()
        yield Text(f"... {len(all_series) - num_shown:,} more loops; --limit 0 shows all", style="dim")
    yield from _draw_missing(run, look)


def _draw_head(run: Run, look: Look) -> Iterator[Text]:
    services = sorted({str(process.resource.get("service.name", "")) for process in run.processes} - {""})
    name = [Text(f"of {clean_text(', '.join(services))}")] if services else []
    title = [Text("Run"), Text(clean_text(run.run_id, 200), "bold")]
    yield from fill_lines([*(title if run.run_id else [Text("Spans of no run")]), *name], look.width, " ")
    counts = [
        _say_processes(run),
        format_count(len(run.traces), "trace"),
        format_count(len(run.spans), "span"),
    ]
    yield from _wrap(", ".join([*_say_when(run, look), *counts]), look)
    yield from _wrap(", ".join(_say_troubles(run)), look, style="bold red")


def _wrap(text: str, look: Look, style: str = "") -> Iterator[Text]:
    """Yield a text in lines, none for an empty one."""
    yield from (Text(line, style=style) for line in textwrap.wrap(text, look.width, break_on_hyphens=False))


def _say_when(run: Run, look: Look) -> Iterator[str]:
    if not run.traces:
        return
    start_ns, end_ns = run.traces[0].start_ns, max(trace.end_ns for trace in run.traces)
    yield format_moment(start_ns, zone=look.zone)
    if any(process.is_alive for process in run.processes):
        yield f"running for {format_duration(max(look.now_ns - start_ns, 0))}"
    else:
        yield f"took {format_duration(end_ns - start_ns)}"


def _say_processes(run: Run) -> str:
    hosts = sorted({process.host for process in run.processes})
    ranks = {get_rank(process) for process in run.processes} - {None}
    what = format_count(len(run.processes), "process", "processes")
    where = clean_text(hosts[0]) if len(hosts) == 1 else format_count(len(hosts), "host")
    world = max((get_world_size(process) or 0 for process in run.processes), default=0)
    if not ranks or (world <= 1 and len(ranks) == 1):
        return f"{what} on {where}"
    of = f" of {world}" if world > len(ranks) else ""
    extra = f" in {what}" if len(run.processes) != len(ranks) else ""
    return f"{format_count(len(ranks), 'rank')}{of}{extra} on {where}"


def _say_troubles(run: Run) -> Iterator[str]:
    errors = sum(span.status == "error" for span in run.spans)
    interrupted = sum(span.is_interrupted for span in run.spans)
    if errors:
        yield format_count(errors, "span with an error", "spans with errors")
    if interrupted:
        yield f"{format_count(interrupted, 'span')} interrupted: the process died before the end"


def _draw_series(series: Series, look: Look) -> Iterator[Text]:
    yield Text()
    hint = "--step N shows one" if series.is_steps else "--trace ID shows one"
    yield from fill_lines(
        [Text(say_series(series, look.now_ns), "bold"), Text(f"({hint})", "dim")], look.width
    )
    rows = list_overview(series, look.now_ns, is_full=look.limit is None)
    for number, line in enumerate(lay_out_table(rows, width=look.width, num_left=2)):
        yield Text(line, style="" if number else "dim")
    chosen = next(filter(is_trace_notable, reversed(series.traces)), series.traces[-1])
    yield from _draw_tree(chosen, look)


def _draw_tree(trace: Trace, look: Look) -> Iterator[Text]:
    yield Text()
    name = (
        clean_text(trace.name)
        if trace.step is None
        else f"{clean_text(trace.loop)} step {trace.step:,}".strip()
    )
    when = format_moment(trace.start_ns, zone=look.zone).partition(" ")[2]
    pieces = [
        Text(name, "bold underline"),
        Text(when, "dim"),
        Text(f"trace {clean_text(trace.trace_id)}", "dim"),
    ]
    yield from fill_lines(pieces, look.width)
    yield from draw_trace(trace, look)
    if look.limit is not None and len(trace.spans) > look.limit:
        hint = f"{look.limit:,} of {len(trace.spans):,} spans shown; --limit 0 shows all"
        yield from _wrap(f"({hint})", look, style="dim")


def _draw_missing(run: Run, look: Look) -> Iterator[Text]:
    """Yield one paragraph that says what the run lost, nothing when it is whole."""
    missing = [*run.notes, *_say_damage(run), *_say_losses(run)]
    if missing:
        yield Text()
        yield from _wrap(f"Not complete: {'; '.join(missing)}.", look, style="yellow")


def _say_damage(run: Run) -> Iterator[str]:
    damage = run.damage
    if damage.records:
        places = format_count(damage.records, "damaged record")
        yield f"{places} skipped ({format_size(damage.num_bytes)})"
    if damage.missing_definitions:
        yield format_count(
            damage.missing_definitions, "value of unknown meaning", "values of unknown meaning"
        )
    if damage.orphans:
        yield format_count(
            damage.orphans, "record of spans whose start is lost", "records of spans whose start is lost"
        )
    if damage.segments_refused:
        first = clean_text(damage.segments_refused[0], 120)
        yield f"{format_count(len(damage.segments_refused), 'file')} refused ({first})"


def _say_losses(run: Run) -> Iterator[str]:
    for key, number in run.ledger.items():
        prefix = next((prefix for prefix in ("end", "event", "link") if key.startswith(f"{prefix}_")), "span")
        reason = key.removeprefix(f"{prefix}_")
        if reason in REASONS and number:
            yield f"{format_count(number, prefix)} lost ({REASONS[reason]})"
