"""Whatever a run holds, the views show it: no exception, no line too wide, nothing that steers the terminal."""

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from rich.cells import cell_len

from otel_trace.journal.spans import EventData, SpanData
from otel_trace.view.as_json import format_run
from otel_trace.view.screen import draw_run
from tests.view.factories import START_NS, make_look, make_process, make_run

TEXTS = st.text(alphabet=st.characters(), max_size=30)
KEYS = st.one_of(
    TEXTS,
    st.sampled_from(
        ["param.x.summary", "param.x.shape", "return.value", "return.type", "watch.a", "x.summary", "x.shape"]
    ),
    st.sampled_from(
        ["training.step", "training.loop", "training.stage", "code.file.path", "code.line.number"]
    ),
    st.sampled_from(
        ["exception.type", "exception.message", "exception.stacktrace", "otel_trace.unrepresentable"]
    ),
    st.sampled_from(["variable.name", "variable.value", "variable.shape", "variable.previous"]),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS, st.binary(max_size=5))
ATTRIBUTES = st.dictionaries(KEYS, st.one_of(SCALARS, st.lists(SCALARS, max_size=3)), max_size=6)
TIMES = st.one_of(st.integers(START_NS, START_NS + 10**10), st.integers(-(2**63), 2**63))
IDS = st.sampled_from(["a", "b", "c", "d", "e"])
EVENTS = st.builds(
    EventData, st.one_of(TEXTS, st.sampled_from(["exception", "variable.change"])), TIMES, ATTRIBUTES
)


@st.composite
def build_span(draw: st.DrawFn) -> SpanData:
    """Draw a span whose parent may be anything, itself included."""
    return SpanData(
        name=draw(TEXTS),
        trace_id=draw(st.sampled_from(["1" * 32, "2" * 32])),
        span_id=draw(IDS),
        parent_id=draw(st.none() | IDS),
        start_ns=draw(TIMES),
        end_ns=draw(st.none() | TIMES),
        process=make_process(
            draw(st.none() | st.integers(0, 3)), is_alive=draw(st.booleans()), service=draw(TEXTS)
        ),
        attributes=draw(ATTRIBUTES),
        events=draw(st.lists(EVENTS, max_size=3)),
        status=draw(st.sampled_from(["unset", "ok", "error"])),
        status_message=draw(TEXTS),
        last_ns=draw(TIMES),
    )


@given(
    spans=st.lists(build_span(), max_size=12), width=st.integers(40, 160), limit=st.none() | st.integers(1, 5)
)
@settings(max_examples=100, deadline=None)
def test_any_run_can_be_shown(spans: list[SpanData], width: int, limit: int | None) -> None:
    """Every line fits the screen and holds only what can be printed; the JSON is read by a strict parser."""
    run = make_run(*spans)
    for line in draw_run(run, run.traces, make_look(width=width, limit=limit, is_distributed=True)):
        assert line.plain.isprintable()
        assert cell_len(line.plain) <= width

    def refuse(name: str) -> Any:
        pytest.fail(f"{name} is not JSON")

    text = "".join(format_run(run, run.traces))
    data = json.loads(text.encode("utf-8"), parse_constant=refuse)
    assert len(run.spans) == sum(len(trace["spans"]) for trace in data["traces"])


@given(spans=st.lists(build_span(), max_size=12))
@settings(max_examples=100, deadline=None)
def test_every_span_is_reachable(spans: list[SpanData]) -> None:
    """Whatever the parents say, walking from the roots meets each span once."""
    for trace in make_run(*spans).traces:
        met, stack = [], list(trace.roots)
        while stack:
            span = stack.pop()
            met.append(span.span_id)
            stack.extend(trace.children(span))
        assert sorted(met) == sorted(span.span_id for span in trace.spans)
