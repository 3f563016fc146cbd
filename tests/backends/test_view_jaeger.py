"""What only Jaeger does: failing at a NaN, giving a page at most, and on badger making arrays into text."""

import dataclasses
import time
import uuid
from collections.abc import Iterator
from string import Template

import pytest

from otel_trace.journal.span_data import SpanData
from otel_trace.view import open_run
from tests.backends.conftest import require_built
from tests.backends.servers import CONFIGS, Jaeger
from tests.view.factories import make_process, make_span
from tests.view.sending import send_spans, wait_for_run

DAY = 86_400 * 10**9


class BadgerJaeger(Jaeger):
    """Jaeger with its store on disk."""

    def _render_config(self) -> str:
        text = (CONFIGS / "jaeger.yaml").read_text()
        store = "badger: {directories: {keys: $folder/keys, values: $folder/values}, ephemeral: false}"
        return Template(text.replace("memory: {max_traces: 100000}", store)).substitute(self._config_values())


@pytest.fixture
def badger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jaeger]:
    """Return a running Jaeger with its store on disk."""
    require_built("jaeger")
    with BadgerJaeger(tmp_path_factory.mktemp("badger")) as server:
        yield server


def make_recent_span(run_id: str, trace_id: str, *, ago_ns: int = 10**9) -> SpanData:
    """Return a span that ended a while ago."""
    process = make_process(0)
    process.resource |= {"training.run_id": run_id, "service.name": "view-jaeger"}
    span = make_span("a1" * 8, trace_id=trace_id, process=process)
    start_ns = time.time_ns() - ago_ns
    return dataclasses.replace(span, start_ns=start_ns, end_ns=start_ns + 10**6)


def test_a_nan_hides_nothing(jaeger: Jaeger) -> None:
    """One NaN of another program, for which Jaeger's own pages answer 500, hides no trace of a run."""
    run_id = f"nan-{uuid.uuid4()}"
    spans = [make_recent_span(run_id, uuid.uuid4().hex) for _ in range(3)]
    spans[0].attributes["loss"] = float("nan")
    send_spans(jaeger.otlp_http, spans)
    run = wait_for_run(jaeger.traces().url, run_id, lambda run: len(run.spans) >= 3)
    assert {span.trace_id for span in spans} == {trace.trace_id for trace in run.traces}
    assert ["nan"] == [str(span.attributes["loss"]) for span in run.spans if span.attributes]


def test_a_run_of_many_pages_is_whole(jaeger: Jaeger) -> None:
    """A run of more traces than a page, sent in no order, over a day, is found whole, newest run or not."""
    run_id = f"pages-{uuid.uuid4()}"
    spans = [make_recent_span(run_id, uuid.uuid4().hex, ago_ns=DAY * number // 700) for number in range(700)]
    for start in (300, 0, 600):
        send_spans(jaeger.otlp_http, spans[start : start + 300])
    run = wait_for_run(jaeger.traces().url, run_id, lambda run: len(run.spans) >= 700)
    assert [span.trace_id for span in reversed(spans)] == [trace.trace_id for trace in run.traces]
    assert [] == run.notes


def test_jaegers_corrections_are_not_read(jaeger: Jaeger) -> None:
    """A span without a duration, and one whose parent is elsewhere, are read as they were sent."""
    run_id, trace_id = f"raw-{uuid.uuid4()}", uuid.uuid4().hex
    span = dataclasses.replace(make_recent_span(run_id, trace_id), parent_id="b2" * 8, is_parent_remote=True)
    send_spans(jaeger.otlp_http, [span])
    url = jaeger.traces().url
    wait_for_run(url, run_id, lambda run: bool(run.spans))
    jaeger.traces().read(trace_id)
    (found,) = open_run(f"{url}/trace/{trace_id}").spans
    assert (span.start_ns, span.end_ns, "b2" * 8, True, {}) == (
        found.start_ns,
        found.end_ns,
        found.parent_id,
        found.is_parent_remote,
        found.attributes,
    )


def test_a_store_on_disk_tells_the_same(badger: Jaeger) -> None:
    """On badger, which keeps arrays as text, shapes are lists all the same, and times and kinds are kept."""
    run_id, trace_id = f"badger-{uuid.uuid4()}", uuid.uuid4().hex
    values = {
        "param.x.shape": [8, 16],
        "param.x.summary": "float32[8, 16] cpu",
        "param.lr": 0.5,
        "n": 2**53 + 1,
    }
    span = dataclasses.replace(
        make_recent_span(run_id, trace_id), attributes=values, kind="client", scope="lib"
    )
    send_spans(badger.otlp_http, [span])
    run = wait_for_run(badger.traces().url, run_id, lambda run: bool(run.spans))
    (found,) = run.spans
    assert (values, "client", "lib", span.start_ns, span.end_ns) == (
        found.attributes,
        found.kind,
        found.scope,
        found.start_ns,
        found.end_ns,
    )
