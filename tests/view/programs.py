"""A program that does everything a span can hold, run as two ranks, and what its journal has."""

import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from otel_trace.journal.spans import ProcessData, SpanData
from otel_trace.view import Run, open_run

REPOSITORY = Path(__file__).parents[2]
PROGRAM = """
import os, signal, sys, uuid
from opentelemetry import trace
import otel_trace as ot
if "tensors" in sys.argv:
    from torch import zeros
else:
    zeros = lambda *shape: list(shape)

tracer = trace.get_tracer("users.library", "1.2")

@ot.traced
def load(path, *, big=2**53 + 1, ratio=0.5, is_cached=True):
    return zeros(8, 16)

@ot.stage("forward")
def forward(x, lr, tags):
    with tracer.start_as_current_span("ask", kind=trace.SpanKind.CLIENT) as span:
        span.add_event("asked", {"url": "http://x", "tries": 3, "shape": [8, 16], "ratio": 1.0})
        span.add_link(outside, {"why": "setup"})
        span.set_status(trace.StatusCode.OK)
        with tracer.start_as_current_span("answer", attributes={"flags": [True, False], "names": ["a", ""]}):
            pass
    if lr > 0.15:
        raise ValueError("lr too \\u706b large")
    return x

ot.configure()
with tracer.start_as_current_span("setup") as setup:
    load("setup.csv")
outside = setup.get_span_context()
caller = trace.SpanContext(
    uuid.uuid4().int, 7, is_remote=True, trace_flags=trace.TraceFlags(1), trace_state=trace.TraceState([("a", "b")])
)
with tracer.start_as_current_span("called", trace.set_span_in_context(trace.NonRecordingSpan(caller))):
    pass
for number in range(3):
    with ot.step(number):
        with ot.stage("data"):
            x = load(f"{number}.csv")
        try:
            forward(x, number / 10, ["a", "b"])
        except ValueError:
            pass
        if number == 2 and os.environ["RANK"] == "1":
            with ot.stage("checkpoint", path="out.pt"):
                if "stay" in sys.argv:
                    print("here", flush=True)
                    sys.stdin.read()
                os.kill(os.getpid(), signal.SIGKILL)
"""


def start_rank(rank: int, root: Path, run_id: str, *arguments: str) -> subprocess.Popen[str]:
    """Start the program as one of two ranks."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "OTELTRACE_DIR": str(root),
            "OTELTRACE_RUN_ID": run_id,
            "OTEL_SERVICE_NAME": "view-tests",
            "RANK": str(rank),
            "WORLD_SIZE": "2",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def record_run(root: Path, *arguments: str) -> Run:
    """Run both ranks, the second until it is killed in its last step; return their journal's run."""
    run_id = f"view-{uuid.uuid4()}"
    codes = []
    for program in [start_rank(rank, root, run_id, *arguments) for rank in (0, 1)]:
        with program:
            program.communicate()
        codes.append(program.returncode)
    assert [0, -signal.SIGKILL] == codes
    return open_run(root, run=run_id)


def describe_run(run: Run) -> dict[str, Any]:
    """Return a run as plain data, without what only its source can say."""
    return {
        "run_id": run.run_id,
        "processes": sorted((describe_process(process) for process in run.processes), key=str),
        "traces": {trace.trace_id: [describe_span(span) for span in trace.spans] for trace in run.traces},
        "trees": {
            trace.trace_id: {
                span.span_id: [child.span_id for child in trace.children(span)] for span in trace.spans
            }
            for trace in run.traces
        },
    }


def describe_process(process: ProcessData) -> dict[str, Any]:
    """Return a process as plain data; each source has keys of its own."""
    return {
        "pid": process.pid,
        "host": process.host,
        "run_id": process.run_id,
        "is_alive": process.is_alive,
        "resource": dict(sorted(process.resource.items())),
    }


def describe_span(span: SpanData) -> dict[str, Any]:
    """Return a span as plain data, without `is_parent_remote`: Tempo forgets it when it stores."""
    return {
        "name": span.name,
        "ids": (span.trace_id, span.span_id, span.parent_id),
        "times": (span.start_ns, span.end_ns, span.last_ns),
        "states": (span.kind, span.status, span.status_message, span.is_open, span.is_interrupted),
        "attributes": span.attributes,
        "events": [(event.name, event.time_ns, event.attributes) for event in span.events],
        "links": [(link.trace_id, link.span_id, link.attributes) for link in span.links],
        "scope": (span.scope, span.scope_version),
        "rest": (span.trace_state, span.dropped),
        "process": describe_process(span.process),
    }
