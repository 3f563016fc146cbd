"""A forked child goes on with a journal of its own."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace import TracerProvider

from .programs import run_program

WORK = """
import os
import otel_trace as ot
from opentelemetry import trace

@ot.traced
def work(number):
    return os.getpid()

def fork(do):
    if os.fork() == 0:
        do()
        os._exit(0)
    os.wait()

ot.configure()
"""


def test_child_does_not_hang() -> None:
    """A child of a small program, which has no thread pool yet, records its span and ends."""
    outcome = run_program(WORK + "work(1)\nfork(lambda: work(2))")
    assert [1, 2] == [span.attributes["param.number"] for span in outcome.spans]
    parent, child = outcome.spans
    assert parent.resource["process.pid"] != child.resource["process.pid"]
    assert child.resource["process.pid"] == child.attributes["return.value"]
    assert parent.resource["service.instance.id"] != child.resource["service.instance.id"]


def test_child_is_below_the_span_it_was_forked_in() -> None:
    """A child's spans are below the parent's open span, which the parent alone ends."""
    outcome = run_program(
        WORK
        + """
with ot.span("outer"), trace.get_tracer("l").start_as_current_span("sdk"):
    child = os.fork()
    work(1)
    if child == 0:
        ot.shutdown()
if child:
    os.wait()
else:
    os._exit(0)
"""
    )
    by_name = {span.name: span for span in outcome.spans}
    assert ["outer", "sdk", "work", "work"] == sorted(outcome.names)
    assert {by_name["sdk"].span_id} == {span.parent_id for span in outcome.spans if span.name == "work"}
    assert not any(span.is_open for span in outcome.spans)


def test_nested_children_each_have_a_journal() -> None:
    """A child of a child of a child records too."""
    outcome = run_program(
        WORK + "fork(lambda: (work(1), fork(lambda: (work(2), fork(lambda: work(3))))))\nwork(4)"
    )
    assert [1, 2, 3, 4] == sorted(span.attributes["param.number"] for span in outcome.spans)
    assert 4 == len({span.process.key for span in outcome.spans})


@pytest.mark.skipif(
    not hasattr(TracerProvider, "_update_resource"), reason="this SDK keeps the parent's resource"
)
def test_exporter_in_a_child_sees_the_child() -> None:
    """For another exporter on our provider, a child's spans carry the child's process id."""
    outcome = run_program(
        WORK
        + """
import json
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter = InMemorySpanExporter()
trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(exporter))
read, write = os.pipe()
def report():
    work(1)
    (span,) = exporter.get_finished_spans()
    os.write(write, json.dumps(span.resource.attributes["process.pid"] == os.getpid()).encode())
fork(report)
print(os.read(read, 10).decode())
"""
    )
    assert outcome.printed is True
