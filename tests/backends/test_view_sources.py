"""What is read back from Jaeger and from Tempo is what the journal has: the same assertions for both."""

import dataclasses
import json
import re
import time
import uuid
from pathlib import Path

import pytest

from otel_trace.errors import RunNotFound
from otel_trace.journal.span_data import SpanData
from otel_trace.view import Run, open_run
from otel_trace.view.errors import SourceFailed
from otel_trace.view.sources.backend import MAX_TRACES
from otel_trace.view.sources.remote import find_remote_runs
from tests.backends.servers import Jaeger, Tempo
from tests.cli.running import run_command
from tests.view.factories import make_process, make_span
from tests.view.otlp import make_sendable
from tests.view.programs import describe_run, record_run, start_rank
from tests.view.sending import send_spans, wait_for_run

Backend = Jaeger | Tempo


@pytest.fixture(params=["jaeger", "tempo"], scope="session")
def backend(request: pytest.FixtureRequest) -> Backend:
    """Return each of the backends in turn."""
    server: Backend = request.getfixturevalue(request.param)
    return server


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run of two ranks with tensors, recorded once: loading torch is the most of it."""
    return record_run(tmp_path_factory.mktemp("recorded"), "tensors")


def send_run(backend: Backend, run: Run) -> Run:
    """Send a run to a backend as a shipper would; return it as the backend shows it."""
    send_spans(backend.otlp_http, make_sendable(run.spans, time.time_ns()))
    return read_back(backend, run)


def read_back(backend: Backend, run: Run) -> Run:
    """Return a run as soon as a backend shows all of its traces."""
    return wait_for_run(backend.traces().url, run.run_id, lambda found: len(found.spans) >= len(run.spans))


def test_a_backend_tells_the_same_as_the_journal(backend: Backend, recorded: Run) -> None:
    """Two ranks with tensors, errors, events, links and a library's spans, one of them killed: the same run."""
    run, found = recorded, send_run(backend, recorded)
    assert describe_run(run) == describe_run(found)
    assert (False, [], backend.traces().url) == (bool(found.damage), found.notes, found.source)
    shapes = [span.attributes.get("return.shape") for span in found.spans if span.name == "load"]
    assert [[8, 16]] * 8 == shapes
    assert ["rank 1", "checkpoint"] == [span.name for span in found.spans if span.is_interrupted]


def test_a_backend_shows_the_same_screen(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command prints of a backend's run what it prints of the journal's."""
    monkeypatch.setenv("OTELTRACE_DIR", str(tmp_path))
    run = record_run(tmp_path)
    send_run(backend, run)
    url = backend.traces().url
    here, there = run_command("view", run.run_id), run_command("view", url, "--run", run.run_id)
    assert (0, "") == (there.exit_code, there.stderr)
    assert here.stdout == there.stdout
    data = json.loads(
        run_command("view", url, "--run", run.run_id, "--step", "1", "--rank", "1", "--json").stdout
    )
    assert ["rank 1", "data", "load", "forward", "ask", "answer"] == [
        span["name"] for span in data["traces"][0]["spans"]
    ]


def test_open_spans_are_open(backend: Backend, tmp_path: Path) -> None:
    """While a rank lives its open spans are open in the backend's run; when it has died they are interrupted."""
    run_id = f"view-{uuid.uuid4()}"
    with start_rank(1, tmp_path, run_id, "stay") as program:
        assert program.stdout is not None
        program.stdout.readline()
        alive = open_run(tmp_path, run=run_id)
        assert describe_run(alive) == describe_run(send_run(backend, alive))
        program.communicate()
    dead = open_run(tmp_path, run=run_id)
    send_spans(backend.otlp_http, make_sendable(dead.spans, time.time_ns()))
    url = backend.traces().url
    found = wait_for_run(url, run_id, lambda run: any(span.is_interrupted for span in run.spans))
    assert describe_run(dead) == describe_run(found)


def test_what_is_sent_twice_stands_once(backend: Backend, tmp_path: Path) -> None:
    """A request that was sent again after a crash changes nothing."""
    run = record_run(tmp_path)
    send_run(backend, run)
    assert describe_run(run) == describe_run(send_run(backend, run))


def test_the_newest_run_is_opened(backend: Backend, tmp_path: Path) -> None:
    """Without a name it is the run that started something last; both are listed, newest first."""
    old, new = record_run(tmp_path), record_run(tmp_path)
    send_run(backend, new)
    send_run(backend, old)
    assert new.run_id == open_run(backend.traces().url).run_id
    place, runs = find_remote_runs(backend.traces().url)
    run_ids = [run.run_id for run in runs]
    assert run_ids.index(new.run_id) < run_ids.index(old.run_id)
    assert f"{backend.name.capitalize()} at {backend.traces().url}" == place
    newest = max(span.start_ns for span in new.spans)
    assert abs(newest - runs[run_ids.index(new.run_id)].newest_ns) < 60 * 10**9
    assert ("view-tests",) == runs[run_ids.index(new.run_id)].services


def test_runs_are_listed_by_the_command(backend: Backend, tmp_path: Path) -> None:
    """The command lists a backend's runs as a table and as data."""
    run = send_run(backend, record_run(tmp_path))
    result = run_command("runs", backend.traces().url)
    head, *lines = result.stdout.splitlines()
    assert ["run", "last", "seen", "service"] == head.split()
    assert any(re.fullmatch(rf"{run.run_id}  [\d -]+[\d:]+  view-tests", line) for line in lines)
    data = json.loads(run_command("runs", backend.traces().url, "--json").stdout)
    assert run.run_id in [one["run_id"] for one in data["runs"]]


def test_one_trace_is_opened(backend: Backend, tmp_path: Path) -> None:
    """The address of a trace is that trace alone."""
    run = send_run(backend, record_run(tmp_path))
    expected = run.traces[1]
    found = open_run(f"{backend.traces().url}/trace/{expected.trace_id}")
    alone = dataclasses.replace(run, traces=[expected])
    assert describe_run(alone)["trees"] == describe_run(found)["trees"]
    assert run.run_id == found.run_id


def test_a_step_of_a_long_run_is_read(backend: Backend) -> None:
    """Of a run with more steps than are read at once, the newest are read, or the one that is asked for."""
    run_id, now_ns = f"long-{uuid.uuid4()}", time.time_ns()
    number = MAX_TRACES + 50
    spans = [make_step(run_id, step, now_ns - (number - step) * 10**9) for step in range(number)]
    for start in range(0, number, 200):
        send_spans(backend.otlp_http, spans[start : start + 200])
    url = backend.traces().url
    found = wait_for_run(
        url, run_id, lambda run: len(run.traces) == MAX_TRACES and run.traces[-1].step == number - 1
    )
    assert list(range(50, number)) == [trace.step for trace in found.traces]
    assert [3] == [trace.step for trace in open_run(url, run=run_id, step=3).traces]
    result = run_command("view", url, "--run", run_id, "--step", "3")
    assert "Not complete: there are more traces: only step 3 was asked for." == result.stdout.splitlines()[-1]


def make_step(run_id: str, step: int, start_ns: int) -> SpanData:
    """Return a step of one span."""
    process = make_process(0)
    process.resource |= {"training.run_id": run_id, "service.name": "view-long"}
    values = {"training.step": step, "training.loop": "train"}
    span = make_span("a1" * 8, trace_id=uuid.uuid4().hex, name="step", attributes=values, process=process)
    return dataclasses.replace(span, start_ns=start_ns, end_ns=start_ns + 10**6)


def test_what_is_not_there_is_one_line(backend: Backend) -> None:
    """An unknown run, an unknown trace and the port for OTLP are told, each in one line."""
    name, url = backend.name.capitalize(), backend.traces().url
    with pytest.raises(RunNotFound, match=rf"^no run 'nope'(:| in).* {name} at {url}"):
        open_run(url, run="nope")
    with pytest.raises(RunNotFound, match=rf"^{name} at {url} has no trace {'ab' * 16}$"):
        open_run(f"{url}/trace/{'ab' * 16}")
    with pytest.raises(SourceFailed, match=rf"^{backend.otlp_http} is neither a Jaeger nor a Tempo"):
        open_run(backend.otlp_http)
    with pytest.raises(SourceFailed, match=rf"^{backend.otlp_grpc} cannot be asked: "):
        open_run(backend.otlp_grpc)
