"""A file of OTLP JSON: one request, or one on each line, as the Collector's file exporter writes them.

The answers of Jaeger and Tempo that somebody has saved are read too. A file may hold several runs; a trace belongs to a
run when one of its spans does.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from otel_trace.journal.span_data import SpanData
from otel_trace.view.errors import SourceFailed
from otel_trace.view.model import Run
from otel_trace.view.sources.backend import gather_runs
from otel_trace.view.sources.choosing import choose_run
from otel_trace.view.sources.otlp import OtlpReading, is_otlp


def open_otlp_file(path: Path, run: str | None = None) -> Run:
    """Read a run from a file, by default the newest in it."""
    reading = OtlpReading()
    for value in _read_values(path, reading):
        reading.add(value)
    run_id = _choose_run(reading.spans, run, path)
    opened = reading.make_run(run_id, source=str(path.absolute()))
    return _narrow(opened, run_id) if run_id else opened


def _read_values(path: Path, reading: OtlpReading) -> Iterator[Any]:
    """Yield the OTLP values of a file; a line that is none is damage, a file without any is refused."""
    text = path.read_text("utf-8", "replace").removeprefix("\ufeff")
    whole = _read_json(text)
    if whole is not None:
        values = whole if isinstance(whole, list) else [whole]
    else:
        values = [_read_json(line) for line in text.splitlines() if line.strip()]
    found = [value for value in values if is_otlp(value)]
    if not found:
        raise SourceFailed(f"{str(path)!r} is neither a journal nor OTLP JSON")
    reading.damage.records += len(values) - len(found)
    yield from found


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _choose_run(spans: list[SpanData], wanted: str | None, path: Path) -> str:
    """Return the run that is wanted, or the newest; "" where the spans belong to none."""
    known = [run.run_id for run in gather_runs(spans)]
    if wanted is not None:
        return choose_run(wanted, known, str(path))
    return known[0] if known else ""


def _narrow(opened: Run, run_id: str) -> Run:
    """Return the run with only the traces that have a span of it."""
    traces = [trace for trace in opened.traces if any(one.run_id == run_id for one in trace.processes)]
    inside = {process.key for trace in traces for process in trace.processes}
    processes = [process for process in opened.processes if process.key in inside]
    return Run(run_id, traces, processes, opened.damage, source=opened.source)
