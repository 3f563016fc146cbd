from typing import Any

import pytest

from otel_trace.journal.span_data import EventData, LinkData
from otel_trace.view.sources.otlp import OtlpReading, is_otlp, is_partial
from tests.view.factories import make_process, make_span
from tests.view.otlp import make_request

TRACE_ID = "ab" * 16
SPAN_ID = "cd" * 8


def read(value: Any) -> OtlpReading:
    """Return what is read of one JSON value."""
    reading = OtlpReading()
    reading.add(value)
    return reading


def wrap(*spans: Any, **group: Any) -> dict[str, Any]:
    """Return OTLP JSON with these spans in one scope."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}], **group}]}


def test_what_is_zero_may_be_left_out() -> None:
    """Tempo leaves out all that is zero or empty: such a span has the values that nothing stands for."""
    (span,) = read(wrap({"traceId": TRACE_ID, "spanId": SPAN_ID})).spans
    assert ("", None, 0, 0, "internal", {}, [], [], "unset", "", "", "", "", (0, 0, 0)) == (
        span.name,
        span.parent_id,
        span.start_ns,
        span.end_ns,
        span.kind,
        span.attributes,
        span.events,
        span.links,
        span.status,
        span.status_message,
        span.scope,
        span.scope_version,
        span.trace_state,
        span.dropped,
    )


def test_everything_is_read_in_the_words_of_tempo() -> None:
    """Ids in base64, enums by name, numbers as text."""
    scope = {"name": "lib", "version": "1.2"}
    data = {
        "traceId": "q6urq6urq6urq6urq6urqw==",
        "spanId": "zc3Nzc3Nzc0=",
        "parentSpanId": "AAAAAAAAAAE=",
        "traceState": "a=b",
        "name": "ask",
        "kind": "SPAN_KIND_CLIENT",
        "startTimeUnixNano": "1795021683625993741",
        "endTimeUnixNano": "1795021683625993742",
        "droppedEventsCount": 2,
        "status": {"code": "STATUS_CODE_ERROR", "message": "late"},
        "events": [
            {"timeUnixNano": "5", "name": "e", "attributes": [{"key": "n", "value": {"intValue": "1"}}]}
        ],
        "links": [{"traceId": "q6urq6urq6urq6urq6urqw==", "spanId": "zc3Nzc3Nzc0="}],
    }
    (span,) = read({"trace": {"resourceSpans": [{"scopeSpans": [{"scope": scope, "spans": [data]}]}]}}).spans
    assert (TRACE_ID, SPAN_ID, "0000000000000001") == (span.trace_id, span.span_id, span.parent_id)
    assert (1795021683625993741, 1795021683625993742) == (span.start_ns, span.end_ns)
    assert ("client", "error", "late", "a=b") == (
        span.kind,
        span.status,
        span.status_message,
        span.trace_state,
    )
    assert [EventData("e", 5, {"n": 1})] == span.events
    assert [LinkData(TRACE_ID, SPAN_ID, {})] == span.links
    assert ("lib", "1.2", (0, 2, 0)) == (span.scope, span.scope_version, span.dropped)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"trace": {}},
        {"result": {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "a"}}]}]}},
        {"resourceSpans": [{}]},
        {"resourceSpans": [{"resource": {}, "scopeSpans": None}]},
        {"resourceSpans": None},
    ],
)
def test_empty_answers_have_no_spans(value: Any) -> None:
    """An unknown trace of Tempo and a scope of Jaeger without spans are nothing, and no damage."""
    reading = read(value)
    assert ([], False) == (reading.spans, bool(reading.damage))


@pytest.mark.parametrize("wrapper", ["result", "trace"])
def test_wrapped_answers_are_read(wrapper: str) -> None:
    """Jaeger wraps OTLP into `result`, Tempo into `trace`; an older Tempo says `batches`."""
    span = {"traceId": TRACE_ID, "spanId": SPAN_ID}
    assert 1 == len(read({wrapper: wrap(span)}).spans)
    assert 1 == len(read({"batches": wrap(span)["resourceSpans"]}).spans)


@pytest.mark.parametrize(
    "broken",
    [
        None,
        7,
        {},
        {"traceId": TRACE_ID},
        {"traceId": TRACE_ID, "spanId": "12"},
        {"traceId": TRACE_ID, "spanId": SPAN_ID, "startTimeUnixNano": "soon"},
        {"traceId": TRACE_ID, "spanId": SPAN_ID, "status": {"code": 9}},
        {"traceId": TRACE_ID, "spanId": SPAN_ID, "kind": "SPAN_KIND_NEW"},
        {"traceId": TRACE_ID, "spanId": SPAN_ID, "attributes": [3]},
        {"traceId": TRACE_ID, "spanId": SPAN_ID, "links": [{}]},
    ],
)
def test_a_broken_span_is_damage(broken: Any) -> None:
    """A span that cannot be read is counted, and the others are there."""
    reading = read(wrap(broken, {"traceId": TRACE_ID, "spanId": "01" * 8}))
    assert (["01" * 8], 1) == ([span.span_id for span in reading.spans], reading.damage.records)


@pytest.mark.parametrize(
    "value", [{"resourceSpans": 5}, {"trace": {"batches": 0.5}}, {"result": {"resourceSpans": "x"}}]
)
def test_a_broken_list_of_groups_is_damage(value: Any) -> None:
    """What is no list of groups is counted."""
    reading = read(value)
    assert ([], 1) == (reading.spans, reading.damage.records)


def test_a_broken_group_is_damage() -> None:
    """A group that cannot be read is counted, and the others are there."""
    reading = read({"resourceSpans": [5, wrap({"traceId": TRACE_ID, "spanId": SPAN_ID})["resourceSpans"][0]]})
    assert (1, 1) == (len(reading.spans), reading.damage.records)


def test_a_span_sent_twice_stands_once() -> None:
    """Tempo keeps a span twice that was sent twice: the run has it once."""
    request = make_request([make_span("a1" * 8)])
    reading = read(request)
    reading.add(request)
    run = reading.make_run("run-a", source="there")
    assert ["a1" * 8] == [span.span_id for span in run.spans]


def test_processes_are_told_apart() -> None:
    """Each rank is a process of its own, in the order of ranks, with host and process id where they are told."""
    spans = [make_span(f"{rank + 1:016x}", process=make_process(rank)) for rank in (1, 0)]
    run = read(make_request(spans)).make_run("run-a", source="there")
    assert [0, 1] == [process.resource["training.rank"] for process in run.processes]
    assert [False, False] == [process.is_alive for process in run.processes]


def test_the_same_rank_of_two_runs_is_two_processes() -> None:
    """What a backend finds may be of many runs, all with a rank 0."""
    processes = [make_process(0) for _ in range(2)]
    for process, run_id in zip(processes, ("run-a", "run-b"), strict=True):
        process.key = run_id
        process.resource["training.run_id"] = run_id
    spans = [make_span(f"{number:016x}", process=process) for number, process in enumerate(processes, 1)]
    assert ["run-a", "run-b"] == [span.process.run_id for span in read(make_request(spans)).spans]


def test_ranks_with_one_instance_id_are_still_two() -> None:
    """A launcher that gives every rank the same `service.instance.id` does not make them one."""
    shared = {"service.instance.id": "job", "host.name": "node1"}
    processes = [make_process(rank) for rank in (0, 1)]
    for process in processes:
        process.resource.update(shared)
    spans = [make_span(f"{number:016x}", process=process) for number, process in enumerate(processes, 1)]
    run = read(make_request(spans)).make_run("run-a", source="there")
    assert [("node1", 0), ("node1", 1)] == [
        (process.host, process.resource["training.rank"]) for process in run.processes
    ]


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (True, {"resourceSpans": []}),
        (True, {"batches": []}),
        (True, {"trace": {}}),
        (False, {"spans": []}),
        (False, []),
    ],
)
def test_otlp_is_recognized(*, expected: bool, value: Any) -> None:
    """Only what has the names of OTLP is taken for it."""
    assert expected is is_otlp(value)


def test_tempo_says_when_a_trace_is_not_whole() -> None:
    """An answer that Tempo marks as partial is known as such."""
    assert [True, False, False] == [
        is_partial({"status": "PARTIAL"}),
        is_partial({"trace": {}}),
        is_partial(None),
    ]
