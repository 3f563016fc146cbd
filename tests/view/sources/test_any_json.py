"""Whatever JSON a file or a server holds, reading it gives spans and counted damage, never an error."""

import json
from typing import Any

from hypothesis import given, strategies as st

from otel_trace.view.as_json import format_run
from otel_trace.view.sources.otlp import OtlpReading
from tests.view.otlp import Json

KEYS = [
    *(
        "resourceSpans",
        "scopeSpans",
        "spans",
        "resource",
        "scope",
        "attributes",
        "events",
        "links",
        "status",
        "result",
    ),
    *(
        "traceId",
        "spanId",
        "parentSpanId",
        "name",
        "kind",
        "startTimeUnixNano",
        "endTimeUnixNano",
        "code",
        "message",
    ),
    *(
        "key",
        "value",
        "stringValue",
        "intValue",
        "doubleValue",
        "arrayValue",
        "values",
        "kvlistValue",
        "bytesValue",
    ),
]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
ID = st.sampled_from(["ab" * 16, "cd" * 8, "q6urq6urq6urq6urq6urqw==", "zc3Nzc3Nzc0=", ""])
VALUES = st.recursive(
    SCALARS | ID,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=20,
)
ATTRIBUTES = st.lists(st.fixed_dictionaries({"key": st.text(max_size=5), "value": VALUES}), max_size=3)
SPAN = st.fixed_dictionaries(
    {"traceId": st.just("ab" * 16), "spanId": ID},
    optional={
        "attributes": ATTRIBUTES | VALUES,
        "events": VALUES,
        "links": VALUES,
        "status": VALUES,
        "kind": VALUES,
        "startTimeUnixNano": VALUES,
        "parentSpanId": ID | VALUES,
    },
)


def wrap(spans: list[Any], resource: Any) -> Json:
    """Return OTLP JSON with these spans."""
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}


@given(
    VALUES
    | st.dictionaries(st.sampled_from(["resourceSpans", "trace"]), VALUES)
    | st.builds(wrap, st.lists(SPAN | VALUES, max_size=4), VALUES)
)
def test_any_json_is_read(value: Any) -> None:
    """What can be read is shown, the rest is counted, and the run is plain data again."""
    reading = OtlpReading()
    reading.add(json.loads(json.dumps(value)))
    run = reading.make_run("run-a", source="there")
    assert "run-a" == json.loads("".join(format_run(run, run.traces)))["run_id"]
