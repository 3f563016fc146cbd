"""What was open when it was sent is open again when it is read: spans go out as a shipper sends them and come back."""

import dataclasses
from typing import Any

from otel_trace.journal.span_data import EventData, LinkData, ProcessData, SpanData
from otel_trace.view.model import Run
from otel_trace.view.sources.otlp import OtlpReading
from tests.view.factories import MS, START_NS, TRACE_ID, make_event, make_process, make_run, make_span
from tests.view.otlp import make_interrupted, make_marker, make_request, make_sendable
from tests.view.programs import describe_run

ROOT, MIDDLE, LEAF, DONE = (f"{number:016x}" for number in (1, 2, 3, 4))
NOW = START_NS + 20_000 * MS


def make_process_with_id(*, is_alive: bool) -> ProcessData:
    """Return a process whose resource says all that a source knows of it."""
    process = make_process(0, is_alive=is_alive)
    process.resource |= {"host.name": process.host, "process.pid": process.pid, "training.run_id": "run-a"}
    return process


def make_tree(process: ProcessData) -> list[SpanData]:
    """Return a tree of which the leaf's branch is open."""
    spans = [
        make_span(ROOT, ms=None, name="step", process=process),
        make_span(MIDDLE, ROOT, at=1, ms=None, name="rank 0", process=process),
        make_span(LEAF, MIDDLE, at=3, ms=None, name="forward", attributes={"x": 1}, process=process),
        make_span(DONE, MIDDLE, at=1, ms=1, name="data", process=process),
    ]
    spans[2].events.append(make_event("note", 4, loss=0.5))
    spans[1].links.append(LinkData(TRACE_ID, DONE, {"why": "mine"}))
    for span in spans:
        span.last_ns = START_NS + 4 * MS
    return spans


def send(*spans: SpanData) -> Run:
    """Return the run that comes back when these spans are sent."""
    reading = OtlpReading()
    reading.add(make_request(spans))
    return reading.make_run("run-a", source="there")


def copy(spans: list[SpanData]) -> list[SpanData]:
    """Return copies that share nothing that could be changed."""
    return [
        dataclasses.replace(span, attributes=dict(span.attributes), links=list(span.links)) for span in spans
    ]


def describe(spans: list[SpanData]) -> dict[str, Any]:
    """Return spans of a journal as plain data."""
    return describe_run(make_run(*spans))


def test_markers_become_open_spans() -> None:
    """The open branch of a live process comes back with its own ids, names, parents, links and events."""
    process = make_process_with_id(is_alive=True)
    tree = make_tree(process)
    run = send(*make_sendable(copy(tree), NOW))
    assert describe(tree) == describe_run(run)
    assert ([True] * 3, [False] * 4) == (
        [span.is_open for span in run.spans if span.span_id != DONE],
        [span.is_interrupted for span in run.spans],
    )


def test_interrupted_spans_never_ended() -> None:
    """The open branch of a dead process comes back as interrupted, without the end and the error made for it."""
    tree = make_tree(make_process_with_id(is_alive=False))
    run = send(*make_sendable(copy(tree), NOW))
    assert describe(tree) == describe_run(run)
    assert ["step", "rank 0", "forward"] == [span.name for span in run.spans if span.is_interrupted]


def test_a_marker_gives_way_to_its_span() -> None:
    """When the real spans have come too, nothing is left of the markers."""
    process = make_process_with_id(is_alive=False)
    tree = [
        dataclasses.replace(span, end_ns=START_NS + 9 * MS, last_ns=START_NS + 9 * MS)
        for span in make_tree(process)
    ]
    marked = {ROOT, MIDDLE, LEAF}
    markers = [make_marker(span, NOW, marked) for span in tree if span.span_id in marked]
    assert describe(tree) == describe_run(send(*copy(markers), *copy(tree)))


def test_a_marker_gives_way_to_an_interrupted_span() -> None:
    """A process that had markers and died is dead."""
    tree = make_tree(make_process_with_id(is_alive=False))
    marked = {ROOT, MIDDLE, LEAF}
    markers = [make_marker(span, NOW, marked) for span in tree if span.is_open]
    run = send(*copy(markers), *copy([make_interrupted(span) if span.is_open else span for span in tree]))
    assert describe(tree) == describe_run(run)


def test_a_span_that_ended_wins_over_its_interruption() -> None:
    """A process that was taken for dead and went on has its span as it ended."""
    span = make_span(ROOT, ms=None)
    ended = make_span(ROOT, ms=7)
    for order in ((make_interrupted(span), ended), (ended, make_interrupted(span))):
        (found,) = send(*copy(list(order))).spans
        assert (START_NS + 7 * MS, {}) == (found.end_ns, found.attributes)


def test_a_marker_below_a_span_that_ended() -> None:
    """A marker whose parent has arrived hangs below it."""
    process = make_process_with_id(is_alive=True)
    parent, child = make_span(ROOT, process=process), make_span(LEAF, ROOT, ms=None, process=process)
    run = send(parent, make_marker(child, NOW, {LEAF}))
    (trace,) = run.traces
    assert [LEAF] == [span.span_id for span in trace.children(trace.roots[0])]


def test_a_marker_sent_twice_is_one_span() -> None:
    """A request that was sent again opens no second span."""
    marker = make_marker(make_span(ROOT, ms=None), NOW, {ROOT})
    assert [ROOT] == [span.span_id for span in send(marker, *copy([marker])).spans]


def test_a_marker_without_a_link_or_a_parent_stands_for_itself() -> None:
    """Whoever else sets `otel_trace.open` gets an open span."""
    (span,) = send(make_span(ROOT, name="x (open)", attributes={"otel_trace.open": True})).spans
    assert (ROOT, "x", None, True) == (span.span_id, span.name, span.parent_id, span.is_open)


def test_other_spans_are_left_as_they_are() -> None:
    """A name that ends in (open), or an attribute that is not true, opens nothing."""
    values = {"otel_trace.open": "yes", "otel_trace.interrupted": 1}
    (span,) = send(make_span(ROOT, name="x (open)", attributes=values)).spans
    assert ("x (open)", False, values) == (span.name, span.is_open, span.attributes)


def test_the_last_record_may_be_an_event() -> None:
    """A process was last heard of when anything of it happened."""
    span = make_span(ROOT, ms=1, events=[EventData("late", START_NS + 8 * MS, {})])
    assert START_NS + 8 * MS == send(span).spans[0].last_ns
