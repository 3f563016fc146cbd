"""A run as one JSON object that every parser takes: no NaN, no lone surrogates, no types of Python."""

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from otel_trace.journal.spans import ProcessData
from otel_trace.view.facts import get_rank
from otel_trace.view.model import Run, Span, Trace

_MAX_NESTING = 20


def format_json(value: Any) -> str:
    """Return any plain value as JSON text on one line."""
    return json.dumps(clean_json(value), allow_nan=False)


def clean_json(value: Any, depth: int = 0) -> Any:
    """Return `value` with what JSON cannot say as text."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return _clean_other(value, depth)


def _clean_other(value: Any, depth: int) -> Any:
    is_nested = isinstance(value, Iterable) and not isinstance(value, bytes | bytearray)
    if depth > _MAX_NESTING or not is_nested:
        return clean_json(repr(value))
    if isinstance(value, Mapping):
        return {clean_json(str(key)): clean_json(item, depth + 1) for key, item in value.items()}
    return [clean_json(item, depth + 1) for item in value]


def format_run(run: Run, traces: Iterable[Trace]) -> Iterator[str]:
    """Yield the pieces of one JSON object: the run and its chosen traces, one at a time."""
    head = format_json(_describe_head(run))
    yield f'{head[:-1]}, "traces": ['
    for number, trace in enumerate(traces):
        yield f"{', ' if number else ''}{format_json(_describe_trace(trace))}"
    yield "]}"


def _describe_head(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "source": run.source,
        "processes": [_describe_process(process) for process in run.processes],
        "damage": dataclasses.asdict(run.damage),
        "ledger": dict(run.ledger),
        "notes": list(run.notes),
    }


def _describe_process(process: ProcessData) -> dict[str, Any]:
    return {**dataclasses.asdict(process), "rank": get_rank(process)}


def _describe_trace(trace: Trace) -> dict[str, Any]:
    return {
        "trace_id": trace.trace_id,
        "name": trace.name,
        "step": trace.step,
        "loop": trace.loop or None,
        "start_ns": trace.start_ns,
        "end_ns": trace.end_ns,
        "spans": [_describe_span(span) for span in trace.spans],
    }


def _describe_span(span: Span) -> dict[str, Any]:
    facts = {field.name: getattr(span, field.name) for field in dataclasses.fields(span)}
    return {
        **facts,
        "process": span.process.key,
        "rank": get_rank(span.process),
        "is_open": span.is_open,
        "is_interrupted": span.is_interrupted,
        "events": [dataclasses.asdict(event) for event in span.events],
        "links": [dataclasses.asdict(link) for link in span.links],
    }
