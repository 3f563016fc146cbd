"""When anything starts: which provider the decorators use, and who sees their spans."""

from __future__ import annotations

import pytest

from .programs import run_program

PRELUDE = """
import json
import otel_trace as ot
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

@ot.traced
def work(x):
    return type(trace.get_current_span()).__name__

def attach(provider):
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter

def names(exporter):
    return [span.name for span in exporter.get_finished_spans()]
"""


def test_nothing_starts_at_import() -> None:
    """Importing and decorating makes no provider and no journal."""
    outcome = run_program(PRELUDE + "print(json.dumps(trace._TRACER_PROVIDER is None))")
    assert (True, []) == (outcome.printed, outcome.runs)


def test_configure_sets_the_global_provider() -> None:
    """After `configure()` the spans of every library are journalled with ours, in one tree."""
    outcome = run_program(
        PRELUDE
        + """
ot.configure()
with trace.get_tracer("library").start_as_current_span("outer"):
    print(json.dumps(work(1)))
"""
    )
    assert "FastSpan" == outcome.printed
    assert ["outer", "work"] == outcome.names
    assert outcome.spans[0].span_id == outcome.spans[1].parent_id


def test_without_configure_decorators_have_a_provider_of_their_own() -> None:
    """Without `configure()` our spans are journalled, and the global provider is left unset."""
    outcome = run_program(
        PRELUDE + "kind = work(1)\nprint(json.dumps([kind, trace._TRACER_PROVIDER is None]))"
    )
    assert ["FastSpan", True] == outcome.printed
    assert ["work"] == outcome.names


def test_configure_after_the_first_span_keeps_the_journal() -> None:
    """A late `configure()` makes the private provider the global one: one run, one journal."""
    outcome = run_program(
        PRELUDE + "work(1)\not.configure()\nwork(2)\ntrace.get_tracer('l').start_span('s').end()"
    )
    assert 1 == len(outcome.runs)
    assert ["work", "work", "s"] == outcome.names


def test_configure_twice_is_configure_once() -> None:
    """A second `configure()` changes nothing."""
    outcome = run_program(PRELUDE + "ot.configure()\not.configure()\nwork(1)")
    assert (["work"], "") == (outcome.names, outcome.stderr)


def test_foreign_provider_is_used_and_left_alone() -> None:
    """If the program set a provider, our spans go to its exporters and nowhere else."""
    outcome = run_program(
        PRELUDE
        + """
provider = TracerProvider()
exporter = attach(provider)
trace.set_tracer_provider(provider)
kind = work(1)
attributes = dict(exporter.get_finished_spans()[0].attributes)
print(json.dumps([kind, names(exporter), attributes["param.x"], attributes["return.value"]]))
"""
    )
    assert ["_Span", ["work"], 1, "_Span"] == outcome.printed
    assert [] == outcome.runs


def test_foreign_provider_is_journalled_when_configured() -> None:
    """`configure()` adds our journal to the program's provider, once; its exporters go on."""
    outcome = run_program(
        PRELUDE
        + """
provider = TracerProvider()
exporter = attach(provider)
trace.set_tracer_provider(provider)
ot.configure()
ot.configure()
work(1)
print(json.dumps(names(exporter)))
"""
    )
    assert ["work"] == outcome.printed
    assert ["work"] == outcome.names
    assert 0 == outcome.spans[0].resource["training.rank"]


def test_provider_set_after_the_first_span_takes_over() -> None:
    """Spans after the program has set its provider go there."""
    outcome = run_program(
        PRELUDE
        + """
work(1)
provider = TracerProvider()
exporter = attach(provider)
trace.set_tracer_provider(provider)
work(2)
print(json.dumps([span.attributes["param.x"] for span in exporter.get_finished_spans()]))
"""
    )
    assert [2] == outcome.printed
    assert [1] == [span.attributes["param.x"] for span in outcome.spans]


def test_exporter_added_to_our_provider_sees_ordinary_spans() -> None:
    """Another exporter on our provider gets our spans as it would the SDK's, also one that is open."""
    outcome = run_program(
        PRELUDE
        + """
ot.configure()

@ot.traced
def late(x):
    global exporter
    exporter = attach(trace.get_tracer_provider())
    return work(2)

kind = late(1)
print(json.dumps([kind, [[s.name, s.attributes["param.x"], s.attributes["return.value"]]
                         for s in exporter.get_finished_spans()]]))
"""
    )
    assert ["_Span", [["work", 2, "_Span"], ["late", 1, "_Span"]]] == outcome.printed
    assert ["late", "work"] == outcome.names


def test_processor_may_change_a_span() -> None:
    """What another processor adds to a span at its start is in the journal at its end."""
    outcome = run_program(
        PRELUDE
        + """
from opentelemetry.sdk.trace import SpanProcessor
class Adding(SpanProcessor):
    def on_start(self, span, parent_context=None):
        span.set_attribute("added", 1)
ot.configure()
trace.get_tracer_provider().add_span_processor(Adding())
work(1)
"""
    )
    assert 1 == outcome.spans[0].attributes["added"]


def test_foreign_provider_of_no_sdk_is_used() -> None:
    """A provider that knows only OTel's API gets our spans; `configure()` says that they are not journalled."""
    outcome = run_program(
        PRELUDE
        + """
class Provider(trace.TracerProvider):
    def get_tracer(self, *args, **kwargs):
        return trace.NoOpTracer()
trace.set_tracer_provider(Provider())
ot.configure()
print(json.dumps(work(1)))
"""
    )
    assert "NonRecordingSpan" == outcome.printed
    assert [] == outcome.runs
    assert 1 == outcome.stderr.count("\n")
    assert "Provider takes no span processor: its spans are not journalled" in outcome.stderr


def test_provider_named_by_the_environment_is_used() -> None:
    """A provider that OTel loads by the environment is the program's own."""
    outcome = run_program(
        PRELUDE + "print(json.dumps(work(1)))", OTEL_PYTHON_TRACER_PROVIDER="sdk_tracer_provider"
    )
    assert ("_Span", []) == (outcome.printed, outcome.runs)


@pytest.mark.parametrize("configure", ["", "ot.configure()"])
def test_disabled_does_nothing(configure: str) -> None:
    """With `OTEL_SDK_DISABLED` functions stay as they are and nothing is written."""
    outcome = run_program(
        PRELUDE
        + configure
        + """
def plain(): ...
with ot.step(1), ot.stage("data"), ot.span("s"):
    kind = work(1)
print(json.dumps([kind, ot.traced(plain) is plain]))
""",
        OTEL_SDK_DISABLED="true",
    )
    assert ["NonRecordingSpan", True] == outcome.printed
    assert [] == outcome.runs


def test_logfire_in_the_process_keeps_its_spans() -> None:
    """With Logfire configured our spans go through its provider; `configure()` journals both."""
    pytest.importorskip("logfire", reason="logfire is not installed here; the 3.11 environment has it")
    outcome = run_program(
        PRELUDE
        + """
import logfire
exporter = InMemorySpanExporter()
logfire.configure(send_to_logfire=False, console=False, inspect_arguments=False,
                  additional_span_processors=[SimpleSpanProcessor(exporter)])
ot.configure()
with logfire.span("theirs"):
    work(1)
print(json.dumps([n for n in names(exporter)]))
""",
    )
    assert ["work", "theirs"] == [name for name in outcome.printed if name in {"work", "theirs"}]
    assert {"theirs", "work"} <= set(outcome.names)


def test_random_is_never_touched() -> None:
    """Nothing of ours draws from the user's random numbers, in spans of ours and of the SDK's."""
    outcome = run_program(
        PRELUDE
        + """
import random
random.seed(1)
before = random.getstate()
ot.configure()
with ot.step(1):
    for number in range(1000):
        work(number)
trace.get_tracer("t").start_span("s").end()
print(json.dumps(random.getstate() == before))
"""
    )
    assert outcome.printed is True


def test_span_after_shutdown_is_kept() -> None:
    """A span after `shutdown()` opens another segment: nothing is lost, nothing raised."""
    outcome = run_program(
        PRELUDE + "ot.configure()\nwork(1)\not.shutdown()\nwork(2)\nprint(json.dumps(ot.flush()))"
    )
    assert outcome.printed is True
    assert ["work", "work"] == outcome.names


def test_threads_that_begin_at_once_share_one_journal() -> None:
    """The first spans of many threads start one provider and one journal."""
    outcome = run_program(
        PRELUDE
        + """
import threading
barrier = threading.Barrier(8)
def begin():
    barrier.wait()
    work(1)
threads = [threading.Thread(target=begin) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
import pathlib, os
print(json.dumps(len(list(pathlib.Path(os.environ["OTELTRACE_DIR"]).rglob("*.seg")))))
"""
    )
    assert 1 == outcome.printed
    assert ["work"] * 8 == outcome.names
