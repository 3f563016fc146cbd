import json
from typing import Any

import pytest

from otel_trace.errors import RunNotFound
from otel_trace.view import open_run
from otel_trace.view.errors import SourceFailed
from otel_trace.view.sources.backend import MAX_TRACES
from otel_trace.view.sources.remote import Address, find_remote_runs, parse_address
from tests.view.factories import START_NS, make_process, make_span
from tests.view.otlp import make_request
from tests.view.sources.answering import serve

ID = "0000000000000000000000000000002a"
OTHER_ID = "000000000000000000000000000000ff"
SERVER = "http://host:16686"


@pytest.mark.parametrize(
    ("expected", "url"),
    [
        (Address(SERVER), SERVER),
        (Address(f"{SERVER}/"), f"{SERVER}/"),
        (Address(f"{SERVER}/jaeger"), f"{SERVER}/jaeger/search?service=train"),
        (Address(f"{SERVER}/my%20%E7%81%AB/"), f"{SERVER}/my \u706b/"),
        (Address(SERVER, run_id="a b"), f"{SERVER}?run=a%20b#top"),
        (Address(SERVER, trace_id=ID), f"{SERVER}/trace/2A?uiFind=x"),
        (Address(SERVER, trace_id=ID), f"{SERVER}/api/v2/traces/{ID}"),
        (Address(f"{SERVER}/base", trace_id=ID), f"{SERVER}/base/api/traces/{ID}/"),
        (Address("https://me:pw@host/trace"), "https://me:pw@host/trace"),
    ],
)
def test_addresses_are_taken_apart(expected: Address, url: str) -> None:
    """The address of a server, of Jaeger's pages and of a trace are understood as they are copied."""
    assert expected == parse_address(url)


def make_answer(**group: Any) -> dict[str, Any]:
    """Return a trace of one run as a backend gives it."""
    process = make_process(0)
    process.resource |= {"training.run_id": "run-a", "service.name": "train"}
    return {**make_request([make_span("a1" * 8, trace_id=ID, process=process)]), **group}


def make_jaeger(*trace_ids: str, trace: Any = None) -> dict[str, Any]:
    """Return the answers of a Jaeger that finds these traces and gives one."""
    found = [{"traceID": trace_id, "spans": [{"startTime": START_NS // 1_000}]} for trace_id in trace_ids]
    result = {"result": trace or make_answer()}
    return {
        "/api/services": {"data": ["train"]},
        "/api/traces": {"data": found},
        "/api/v3/traces": result,
        f"/api/v3/traces/{ID}": result,
    }


def make_tempo(trace: Any) -> dict[str, Any]:
    """Return the answers of a Tempo that has one trace."""
    return {
        "/api/echo": b"echo\n",
        "/api/search": {"traces": [{"traceID": "2a"}]},
        f"/api/v2/traces/{ID}": trace,
    }


def test_a_jaeger_is_recognized_and_read() -> None:
    """What answers as Jaeger does is read as one; without a name, its newest run."""
    with serve(make_jaeger(ID)) as server:
        run = open_run(server.url)
        assert ("run-a", server.url, [ID], []) == (
            run.run_id,
            run.source,
            [trace.trace_id for trace in run.traces],
            run.notes,
        )


def test_a_tempo_is_recognized_and_read() -> None:
    """What answers as Tempo does is read as one, and says when a trace is not whole."""
    with serve(make_tempo({"trace": make_answer(), "status": "PARTIAL"})) as server:
        run = open_run(f"{server.url}?run=run-a")
        assert (1, ["1 trace too large to be given whole"]) == (len(run.spans), run.notes)


def serve_long_run(path: str) -> Any:
    """Answer as a Tempo that has more traces of a run than are read at once, of which one is step 7."""
    trace_ids = [ID] + [f"{number:032x}" for number in range(1_000, 1_000 + MAX_TRACES)]
    if path.startswith("/api/v2/traces/"):
        return {"trace": make_request([make_span("a1" * 8, trace_id=path[-32:])])}
    if "training.step" in path:
        trace_ids = [ID] if "+7+" in path else []
    found = [{"traceID": one, "startTimeUnixNano": "9"} for one in trace_ids]
    answers = {"/api/echo": b"echo\n", "/api/search": {"traces": found}}
    return answers.get(path.partition("?")[0], (404, b""))


def test_a_run_that_is_not_whole_is_noted() -> None:
    """Where a run has more traces than are read, the newest are, and the run says so."""
    expected = "there are more traces: only the newest 1,000 were asked for"
    with serve(serve_long_run) as server:
        for step in (None, 8):
            run = open_run(server.url, run="run-a", step=step)
            assert (1_000, [expected]) == (len(run.traces), run.notes)


def test_of_a_long_run_the_wanted_step_is_read() -> None:
    """Where a run has more traces than are read, the step that is wanted is."""
    with serve(serve_long_run) as server:
        run = open_run(server.url, run="run-a", step=7)
        assert ([ID], ["there are more traces: only step 7 was asked for"]) == (
            [trace.trace_id for trace in run.traces],
            run.notes,
        )


def test_a_server_below_a_path_is_read() -> None:
    """A server behind a proxy may have a path of its own."""
    answers = {f"/observe{path}": answer for path, answer in make_jaeger(ID).items()}
    with serve(answers) as server:
        assert "run-a" == open_run(f"{server.url}/observe/").run_id


def test_one_trace_is_read() -> None:
    """The address of a trace is that trace alone, and nothing is searched."""
    with serve(make_jaeger(OTHER_ID)) as server:
        run = open_run(f"{server.url}/trace/2a")
        assert ("run-a", [ID]) == (run.run_id, [trace.trace_id for trace in run.traces])
        assert ["/api/services", f"/api/v3/traces/{ID}?raw_traces=true"] == server.paths


def test_a_trace_that_is_not_there_is_named() -> None:
    """A trace that the server does not know is one line."""
    with serve(make_jaeger()) as server:
        with pytest.raises(RunNotFound) as caught:
            open_run(f"{server.url}/trace/ff")
        assert f"Jaeger at {server.url} has no trace {OTHER_ID}" == str(caught.value)


def test_a_run_that_is_not_there_is_named() -> None:
    """An unknown run is told with those that were seen lately."""
    with serve(make_jaeger()) as server:
        with pytest.raises(RunNotFound) as caught:
            open_run(server.url, run="nope")
        assert f"no run 'nope' in Jaeger at {server.url}; runs there: run-a" == str(caught.value)


def test_a_server_without_runs_says_so() -> None:
    """Where no run was seen, one line says what can be named all the same."""
    with serve({**make_jaeger(), "/api/services": {"data": None}}) as server:
        with pytest.raises(RunNotFound) as caught:
            open_run(server.url)
        hint = f"one trace can be named as {server.url}/trace/ID"
        assert f"no run in Jaeger at {server.url}; {hint}" == str(caught.value)


def test_a_beginning_names_a_run() -> None:
    """A run's id need not be typed in full."""

    def answer(path: str) -> Any:
        is_whole = "run-a" in path
        return make_jaeger(*([ID] if is_whole else [])).get(path.partition("?")[0], (404, b""))

    with serve(answer) as server:
        assert ("run-a", 1) == (
            open_run(server.url, run="run").run_id,
            len(open_run(server.url, run="ru").spans),
        )


def test_a_trace_that_went_meanwhile_is_noted() -> None:
    """A trace that was found and is gone when it is read is told."""
    with serve(make_jaeger(ID, OTHER_ID)) as server:
        assert ["1 trace found but no longer there"] == open_run(server.url).notes


@pytest.mark.parametrize(
    "answers",
    [{}, {"/api/services": b"<html>", "/api/echo": b"<html>"}, {"/api/services": {"services": []}}],
)
def test_other_servers_are_refused(answers: dict[str, Any]) -> None:
    """A server that is neither is told so, with the ports that are usual."""
    with serve(answers) as server:
        with pytest.raises(SourceFailed) as caught:
            open_run(server.url)
        hint = "the port for queries is usually 16686 or 3200, not that for OTLP"
        assert f"{server.url} is neither a Jaeger nor a Tempo; {hint}" == str(caught.value)


def test_a_server_that_wants_credentials_is_not_taken_for_another() -> None:
    """A refusal to the first question is told as it is."""
    with (
        serve({"/api/services": (401, b"")}) as server,
        pytest.raises(SourceFailed, match=r"answered 401: it wants"),
    ):
        open_run(server.url)


def test_runs_of_a_server_are_listed() -> None:
    """The runs are listed with the name of the place."""
    with serve(make_jaeger(ID)) as server:
        place, (run,) = find_remote_runs(server.url)
        assert (f"Jaeger at {server.url}", "run-a", START_NS, ("train",)) == (
            place,
            run.run_id,
            run.newest_ns,
            run.services,
        )


def test_a_failure_while_reading_is_one_error() -> None:
    """A server that fails at one trace is told; nothing hangs and no thread is left."""
    answers = {
        **make_jaeger(ID),
        f"/api/v3/traces/{ID}": (500, json.dumps({"error": {"message": "disk"}}).encode()),
    }
    with serve(answers) as server, pytest.raises(SourceFailed, match=r"answered 500: disk"):
        open_run(server.url)


@pytest.mark.parametrize("found", [[{}], [5], {"a": 1}, [{"traceID": ID, "spans": [7]}]])
def test_answers_of_another_form_are_one_error(found: Any) -> None:
    """A server whose answers are not what they must be is named, whatever they are."""
    answers = {**make_jaeger(ID), "/api/traces": {"data": found}}
    with serve(answers) as server, pytest.raises(SourceFailed) as caught:
        open_run(server.url)
    assert str(caught.value).startswith(f"Jaeger at {server.url} answered what cannot be understood (")


def test_a_list_of_another_form_is_one_error() -> None:
    """The same holds for the list of runs."""
    with (
        serve({**make_jaeger(ID), "/api/services": {"data": 5}}) as server,
        pytest.raises(SourceFailed) as caught,
    ):
        find_remote_runs(server.url)
    assert str(caught.value).startswith(f"Jaeger at {server.url} answered what cannot be understood (")
