import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_trace.cluster.process import ProcessKey, host_name
from otel_trace.journal.place import journal_root
from otel_trace.ship.main import take_lock
from tests.cli.running import Result, run_command
from tests.journal.factories import fill_with, write_spans, writing
from tests.ship.factories import list_numbers
from tests.ship.fakes import HttpFake, Reply, find_closed_port, run_http
from tests.ship.processes import wait_for

DEAD = ProcessKey(999_999_998, 7)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpFake]:
    """Give an endpoint that the environment names."""
    with run_http() as endpoint:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.url)
        yield endpoint


def make_run(name: str = "run-a", host: str = "", number: int = 5, key: ProcessKey = DEAD) -> Path:
    """Write the journal of a process that has ended; return its folder."""
    folder = journal_root() / name / (host or host_name())
    folder.mkdir(parents=True)
    fill_with(folder, number, key=key)
    return folder


def ship(*args: str) -> Result:
    """Run `otel-trace ship` in this process."""
    return run_command("ship", "--patience", "1", *args)


def test_rest_of_the_newest_run_is_delivered_once(fake: HttpFake) -> None:
    """What is left arrives, the command says how much; the second time nothing is sent again."""
    make_run()
    result = ship()
    name = f"run-a on {host_name()}"
    assert (0, f"{name}: 5 spans delivered to {fake.url}/v1/traces\n  nothing is left\n", "") == (
        result.exit_code,
        result.stdout,
        result.stderr,
    )
    assert [1, 2, 3, 4, 5] == list_numbers(*fake.bodies)
    assert f"{name}: 0 spans delivered to {fake.url}/v1/traces\n  nothing is left\n" == ship().stdout
    assert [1, 2, 3, 4, 5] == list_numbers(*fake.bodies)


@pytest.mark.parametrize("how", ["id", "beginning", "run", "host", "root"])
def test_run_is_named_by_id_or_folder(fake: HttpFake, how: str) -> None:
    """A run is found by its id or the beginning of it, by its folder, its host's folder, and the folder of all."""
    folder = make_run()
    names = {"id": "run-a", "beginning": "run", "run": folder.parent, "host": folder, "root": journal_root()}
    assert 0 == ship(str(names[how])).exit_code
    assert 5 == len(list_numbers(*fake.bodies))


def test_all_hosts_of_a_run(fake: HttpFake) -> None:
    """What other machines left in a shared folder is sent too; their processes are taken for ended."""
    make_run()
    make_run(host="other", key=ProcessKey(os.getpid(), 1))
    result = ship()
    assert 0 == result.exit_code
    assert [f"run-a on {name}" for name in sorted([host_name(), "other"])] == [
        line.split(":")[0] for line in result.stdout.splitlines() if not line.startswith(" ")
    ]
    assert 10 == len(list_numbers(*fake.bodies))


def test_what_stays_is_told_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """With nobody at the endpoint everything stays, the reason is given, and the exit code is 1."""
    folder = make_run()
    url = f"http://127.0.0.1:{find_closed_port()}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    result = ship()
    assert 1 == result.exit_code
    assert "0 spans delivered" in result.stdout
    assert f"  5 spans stay in {folder}: {url}/v1/traces does not answer" in result.stdout


def test_refusal_is_not_waited_for(fake: HttpFake) -> None:
    """Wrong credentials do not become right by waiting."""
    make_run()
    fake.replies = [Reply(401)]
    result = run_command("ship", "--patience", "60")
    assert (1, 1) == (result.exit_code, len(fake.bodies))
    assert "the endpoint wants credentials: set OTEL_EXPORTER_OTLP_HEADERS" in result.stdout


def test_missing_certificate_sends_nothing(
    fake: HttpFake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without the certificate that was asked for nothing goes out, and the line says which file."""
    make_run()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", str(tmp_path / "ca.pem"))
    result = ship()
    assert (1, []) == (result.exit_code, fake.bodies)
    assert f"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE={tmp_path}/ca.pem cannot be read" in result.stdout


def test_given_up_spans_are_told(fake: HttpFake) -> None:
    """What the backend rejects for good is counted with its words; nothing is left then."""
    make_run()
    fake.replies = [
        Reply(
            200,
            b'{"partialSuccess": {"rejectedSpans": 2, "errorMessage": "too old"}}',
            {"Content-Type": "application/json"},
        )
    ]
    result = ship()
    assert 0 == result.exit_code
    assert "3 spans delivered" in result.stdout
    assert f"  given up: 2 rejected ({fake.url}/v1/traces: 2 spans rejected (too old))\n" in result.stdout


def test_busy_run_is_left_to_its_shipper(fake: HttpFake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a shipper is at work nothing is sent a second time."""
    folder = make_run()
    lock = take_lock(folder)
    assert lock is not None
    monkeypatch.setattr("otel_trace.ship.service._ENDING", 0.1)
    result = ship()
    os.close(lock)
    assert (1, []) == (result.exit_code, fake.bodies)
    assert f"run-a on {host_name()}: a shipper is at work; 5 spans not delivered yet\n" == result.stdout


def test_open_spans_of_a_live_process_stay(fake: HttpFake) -> None:
    """Of a run that goes on, what has ended is sent; what is open stays and is not ended."""
    folder = journal_root() / "run-a" / host_name()
    with writing(folder) as writer:
        write_spans(writer, 3)
        write_spans(writer, 2, first=4, is_ended=False)
        result = ship()
    assert 1 == result.exit_code
    assert "3 spans delivered" in result.stdout
    assert f"  2 spans stay in {folder}: their processes are still running\n" in result.stdout


def test_no_run_is_one_line() -> None:
    """Where there is nothing, one line says so."""
    result = ship("nope")
    assert (1, "") == (result.exit_code, result.stdout)
    assert f"Error: no run 'nope': there are no runs in {journal_root()}\n" == result.stderr


def test_follow_ships_every_run_until_it_is_ended(fake: HttpFake) -> None:
    """As a service it takes up runs as they come, and ends by SIGTERM without losing its place."""
    make_run("run-a")
    with subprocess.Popen(
        [sys.executable, "-m", "otel_trace", "ship", "--follow", str(journal_root())],
        stderr=subprocess.PIPE,
        text=True,
    ) as service:
        assert wait_for(lambda: len(list_numbers(*fake.bodies)) == 5)
        make_run("run-b", number=3)
        assert wait_for(lambda: len(list_numbers(*fake.bodies)) == 8)
        service.send_signal(signal.SIGTERM)
        _, told = service.communicate(timeout=10)
    assert [0, 2] == [service.returncode, len(told.splitlines())]
    assert f"shipping the runs below {journal_root()} to {fake.url}/v1/traces" == told.splitlines()[0]
    assert "nothing is left" in ship("run-b").stdout
    assert 8 == len(list_numbers(*fake.bodies))
