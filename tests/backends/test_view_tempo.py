"""What only Tempo does: stripped ids, searches that need a range, data that arrives days late."""

import dataclasses
import time
import uuid
from collections.abc import Iterator

import pytest

from otel_trace.journal.span_data import EventData, SpanData
from otel_trace.view import open_run
from otel_trace.view.sources.remote import find_remote_runs
from tests.backends.conftest import require_built
from tests.backends.servers import Tempo
from tests.view.factories import make_process, make_span
from tests.view.sending import send_spans, wait_for_run

DAY = 86_400 * 10**9


def make_recent_span(run_id: str, trace_id: str, *, ago_ns: int = 10**9) -> SpanData:
    """Return a span that ended a while ago."""
    process = make_process(0)
    process.resource |= {"training.run_id": run_id, "service.name": "train"}
    span = make_span("a1" * 8, trace_id=trace_id, process=process)
    start_ns = time.time_ns() - ago_ns
    return dataclasses.replace(span, start_ns=start_ns, end_ns=start_ns + 10**6)


def test_ids_with_leading_zeros_are_found(tempo: Tempo) -> None:
    """A trace whose id begins with zeros, which the search leaves out, is read whole."""
    run_id, trace_id = f"zeros-{uuid.uuid4()}", f"{uuid.uuid4().int >> 12:032x}"
    send_spans(tempo.otlp_http, [make_recent_span(run_id, trace_id)])
    run = wait_for_run(tempo.traces().url, run_id, lambda run: bool(run.spans))
    assert [trace_id] == [trace.trace_id for trace in run.traces]


class StoringTempo(Tempo):
    """Tempo that takes what it gets out of its memory at once, and searches all that it has stored."""

    def _render_config(self) -> str:
        eager = "ingester: {max_block_duration: 1s, trace_idle_period: 1s, complete_block_timeout: 1s, "
        config = super()._render_config().replace("ingester: {", eager)
        config = config.replace("backend: local,", "backend: local, blocklist_poll: 1s,")
        return f"{config}query_frontend: {{search: {{query_backend_after: 0s}}}}\n"


@pytest.fixture
def storing_tempo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tempo]:
    """Return a running Tempo that stores at once."""
    require_built("tempo")
    with StoringTempo(tmp_path_factory.mktemp("storing-tempo")) as server:
        yield server


def test_a_run_sent_days_late_is_found(tempo: Tempo) -> None:
    """A run that was sent two days after it ran is found while it is only in Tempo's memory."""
    run_id, trace_id = f"late-{uuid.uuid4()}", uuid.uuid4().hex
    send_spans(tempo.otlp_http, [make_recent_span(run_id, trace_id, ago_ns=2 * DAY)])
    run = wait_for_run(tempo.traces().url, run_id, lambda run: bool(run.spans))
    assert [trace_id] == [trace.trace_id for trace in run.traces]
    assert run_id in [one.run_id for one in find_remote_runs(tempo.traces().url)[1]]


def test_a_late_run_is_found_when_it_is_stored(storing_tempo: Tempo) -> None:
    """The same run is found when it is no longer in Tempo's memory, which a search without a range asks alone."""
    run_id, trace_id = f"late-{uuid.uuid4()}", uuid.uuid4().hex
    send_spans(storing_tempo.otlp_http, [make_recent_span(run_id, trace_id, ago_ns=2 * DAY)])
    client = storing_tempo.traces()
    wait_for_run(client.url, run_id, lambda run: bool(run.spans))
    query, deadline = f'{{ resource.training.run_id = "{run_id}" }}', time.monotonic() + 60
    while client.search(query) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert [] == client.search(query)
    run = wait_for_run(client.url, run_id, lambda run: bool(run.spans))
    assert [trace_id] == [trace.trace_id for trace in run.traces]
    assert run_id == open_run(client.url).run_id


def test_a_run_id_of_any_characters_is_found(tempo: Tempo) -> None:
    """Quotes, backslashes and other scripts in a run's id do not break the query."""
    run_id = f'a"b\\c }} \u706b-{uuid.uuid4()}'
    send_spans(tempo.otlp_http, [make_recent_span(run_id, uuid.uuid4().hex)])
    assert run_id == wait_for_run(tempo.traces().url, run_id, lambda run: bool(run.spans)).run_id


def test_of_a_span_sent_in_two_forms_the_ended_one_stays(tempo: Tempo) -> None:
    """Tempo keeps both; a span that was taken for interrupted and went on is shown as it ended."""
    run_id, trace_id = f"twice-{uuid.uuid4()}", uuid.uuid4().hex
    ended = make_recent_span(run_id, trace_id)
    interrupted = dataclasses.replace(
        ended, end_ns=ended.start_ns + 5, attributes={"otel_trace.interrupted": True}
    )
    send_spans(tempo.otlp_http, [interrupted])
    send_spans(tempo.otlp_http, [ended])
    wait_for_run(tempo.traces().url, run_id, lambda run: bool(run.spans))
    (span,) = open_run(f"{tempo.traces().url}/trace/{trace_id}").spans
    assert (ended.end_ns, {}) == (span.end_ns, span.attributes)


def test_numbers_that_are_none_are_read(tempo: Tempo) -> None:
    """A NaN of another program, in an attribute and in an event, is read as what it is."""
    run_id, trace_id = f"nan-{uuid.uuid4()}", uuid.uuid4().hex
    span = make_recent_span(run_id, trace_id)
    span.attributes["loss"] = float("nan")
    span.events.append(EventData("change", span.start_ns, {"values": [1.0, float("inf")]}))
    send_spans(tempo.otlp_http, [span])
    run = wait_for_run(tempo.traces().url, run_id, lambda run: bool(run.spans))
    (found,) = run.spans
    assert ("nan", [1.0, float("inf")]) == (
        str(found.attributes["loss"]),
        found.events[0].attributes["values"],
    )
