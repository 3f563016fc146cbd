"""Small inputs for the tests of views: processes, spans, traces and runs with readable times."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from otel_trace.journal.reader import Damage
from otel_trace.journal.spans import EventData, ProcessData, SpanData
from otel_trace.view.look import Look
from otel_trace.view.model import Run, Trace, group_traces
from otel_trace.view.tree import draw_trace

MS = 1_000_000
START_NS = 1_800_000_000 * 1_000 * MS
"""2027-01-15 08:00:00 UTC."""
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"


def make_process(rank: int | None = None, *, is_alive: bool = False, service: str = "") -> ProcessData:
    """Return a process; with a rank it is one of two."""
    ranks = {} if rank is None else {"training.rank": rank, "training.world_size": 2}
    services = {"service.name": service} if service else {}
    pid = 99 if rank is None else 100 + rank
    return ProcessData(
        key=f"node1/{pid}-7",
        pid=pid,
        is_alive=is_alive,
        host="node1",
        run_id="run-a",
        resource={**ranks, **services},
    )


ALONE = make_process()


def make_span(
    span_id: str,
    parent: str | None = None,
    *,
    at: float = 0,
    ms: float | None = 1,
    name: str | None = None,
    attributes: Mapping[str, Any] | None = None,
    events: list[EventData] | None = None,
    status: str = "unset",
    message: str = "",
    process: ProcessData = ALONE,
    trace_id: str = TRACE_ID,
) -> SpanData:
    """Return a span that starts `at` ms and takes `ms`; None for one that never ended."""
    start_ns = START_NS + round(at * MS)
    return SpanData(
        name=name or span_id,
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent,
        start_ns=start_ns,
        end_ns=None if ms is None else start_ns + round(ms * MS),
        attributes=dict(attributes or {}),
        events=events or [],
        status=status,
        status_message=message,
        process=process,
        last_ns=START_NS + 3_200 * MS,
    )


def make_event(name: str, at: float, **attributes: Any) -> EventData:
    """Return an event `at` ms; two underscores in a name stand for a dot."""
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return EventData(name, START_NS + round(at * MS), named)


def make_exception(kind: str, message: str, at: float = 0, stack: str = "") -> EventData:
    """Return the event that records an exception."""
    return make_event(
        "exception", at, exception__type=kind, exception__message=message, exception__stacktrace=stack
    )


def make_trace(*spans: SpanData) -> Trace:
    """Return the one trace of `spans`."""
    (trace,) = group_traces(spans)
    return trace


def make_steps(number: int, *, loop: str = "train", process: ProcessData = ALONE) -> list[SpanData]:
    """Return steps of 10 ms, each with the stages data (1 ms) and forward (5 ms), one trace a step."""
    spans = []
    for step in range(number):
        common = {"training.step": step, "training.loop": loop}
        trace_id = f"{step + 1:032x}"
        root = f"s{step}"
        spans += [
            make_span(
                root, at=step * 10, ms=10, name="step", attributes=common, trace_id=trace_id, process=process
            ),
            *(
                make_span(
                    f"{root}-{stage}",
                    root,
                    at=step * 10 + at,
                    ms=ms,
                    name=stage,
                    attributes={**common, "training.stage": stage},
                    trace_id=trace_id,
                    process=process,
                )
                for stage, at, ms in (("data", 0, 1), ("forward", 1, 5))
            ),
        ]
    return spans


def make_run(*spans: SpanData, damage: Damage | None = None, ledger: Mapping[str, int] | None = None) -> Run:
    """Return a run of `spans`."""
    processes = list({span.process.key: span.process for span in spans}.values())
    return Run("run-a", group_traces(spans), processes, damage or Damage(), ledger or {})


def make_look(
    *, width: int = 80, limit: int | None = 100, is_distributed: bool = False, now: float = 0
) -> Look:
    """Return how to draw, at `now` ms."""
    return Look(
        START_NS + round(now * MS), width=width, limit=limit, is_distributed=is_distributed, zone=dt.UTC
    )


def draw(*spans: SpanData, look: Look | None = None) -> list[str]:
    """Return the lines of the one trace of `spans`."""
    return [line.plain for line in draw_trace(make_trace(*spans), look or make_look())]
