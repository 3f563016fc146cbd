import json
from typing import Any

import pytest

from otel_trace.journal.spans import LinkData
from otel_trace.view.as_json import format_json, format_run
from tests.view.factories import MS, START_NS, TRACE_ID, make_event, make_process, make_run, make_span


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("nan", float("nan")),
        ("-inf", float("-inf")),
        ("a?b", "a\ud800b"),
        ("\0\x1b", "\0\x1b"),
        (2**70, 2**70),
        ("b'\\xff'", b"\xff"),
        ({"1": [1, "nan"]}, {1: (1, float("nan"))}),
        ({"?": None}, {"\ud800": None}),
        ("<class 'int'>", int),
    ],
)
def test_any_value_is_valid_json(expected: Any, value: Any) -> None:
    """What JSON cannot say is text; what it can stays what it is."""

    def refuse(name: str) -> None:
        pytest.fail(f"{name} is not JSON")

    text = format_json(value)
    assert expected == json.loads(text, parse_constant=refuse)
    assert "\n" not in text


def test_a_structure_that_holds_itself_ends() -> None:
    """A value without end is cut."""
    value: list[Any] = []
    value.append(value)
    assert len(format_json(value)) < 1_000


def test_a_run_is_plain_data() -> None:
    """The object has the run, its processes and traces, and every field of every span."""
    process = make_process(0)
    span = make_span(
        "b", "a", ms=None, process=process, events=[make_event("e", 1, k=2)], attributes={"training.step": 3}
    )
    span.links.append(LinkData("f" * 32, "e" * 16, {"why": "x"}))
    run = make_run(span, ledger={"journal": 1})
    data = json.loads("".join(format_run(run, run.traces)))
    assert ("run-a", {"journal": 1}, 0) == (data["run_id"], data["ledger"], data["damage"]["records"])
    assert [{"key": "node1/100-7", "rank": 0, "is_alive": False}] == [
        {key: one[key] for key in ("key", "rank", "is_alive")} for one in data["processes"]
    ]
    (trace,) = data["traces"]
    (found,) = trace.pop("spans")
    assert {
        "trace_id": TRACE_ID,
        "name": "b",
        "step": 3,
        "loop": None,
        "start_ns": START_NS,
        "end_ns": START_NS + 3_200 * MS,
    } == trace
    assert {
        "name": "b",
        "span_id": "b",
        "parent_id": "a",
        "start_ns": START_NS,
        "end_ns": None,
        "is_open": True,
        "is_interrupted": True,
        "process": "node1/100-7",
        "rank": 0,
        "attributes": {"training.step": 3},
        "events": [{"name": "e", "time_ns": START_NS + MS, "attributes": {"k": 2}}],
        "links": [{"trace_id": "f" * 32, "span_id": "e" * 16, "attributes": {"why": "x"}}],
    }.items() <= found.items()


@pytest.mark.parametrize("number", [0, 1, 3])
def test_every_number_of_traces_is_one_object(number: int) -> None:
    """The pieces of a run make one object, whether it has no trace, one or many."""
    run = make_run(*(make_span("a", at=at, trace_id=f"{at:032x}") for at in range(number)))
    traces = json.loads("".join(format_run(run, run.traces)))["traces"]
    assert [f"{at:032x}" for at in range(number)] == [trace["trace_id"] for trace in traces]
