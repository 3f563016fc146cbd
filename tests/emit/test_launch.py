import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_trace.emit.launch import (
    LOG_NAME,
    claim_start,
    ensure_shipper,
    has_exporter,
    is_shipped,
    is_wanted,
    list_packages,
)
from otel_trace.journal.delivery import LOCK_NAME
from tests.emit.programs import REPOSITORY, run_program
from tests.ship.fakes import HttpFake, run_http
from tests.ship.processes import describe_shipper, end_shippers, find_shippers, wait_for

PRELUDE = """
import json, os, signal, subprocess, sys, time
import otel_trace as ot

@ot.traced
def work(x):
    return x
"""


@pytest.fixture
def root() -> Iterator[Path]:
    """Return the root of the journals; at the end no shipper below it is left."""
    folder = Path(os.environ["OTELTRACE_DIR"])
    yield folder
    end_shippers(folder)


@pytest.fixture
def fake(root: Path) -> Iterator[HttpFake]:
    """Give an endpoint that outlives the shippers."""
    with run_http() as endpoint:
        yield endpoint
        end_shippers(root)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, (False, False, False)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h"}, (True, True, True)),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://h"}, (True, True, True)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, (False, False, False)),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, (True, True, True)),
        ({"OTEL_TRACES_EXPORTER": "console, OTLP"}, (True, True, True)),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://h"}, (False, False, False)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTELTRACE_SHIPPER": "off"}, (True, False, False)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTELTRACE_SHIPPER": "service"}, (True, True, False)),
    ],
)
def test_environment_says_who_ships(environ: dict[str, str], expected: tuple[bool, bool, bool]) -> None:
    """An exporter is configured or not; it is shipped or not; by a shipper of ours or not."""
    assert expected == (has_exporter(environ), is_shipped(environ), is_wanted(environ))


def test_only_one_of_many_starts_it(tmp_path: Path) -> None:
    """The first one that asks starts a shipper; the next ones see that it was started, or that it is there."""
    assert [True, False, False] == [claim_start(tmp_path) for _ in range(3)]
    lock = tmp_path / LOCK_NAME
    os.utime(lock, (time.time() - 10, time.time() - 10))
    with lock.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert not claim_start(tmp_path)
    assert [True, False] == [claim_start(tmp_path) for _ in range(2)]


def test_shipper_that_cannot_live_is_started_less_often(tmp_path: Path) -> None:
    """After many starts a minute passes between two."""
    lock = tmp_path / LOCK_NAME
    lock.write_bytes(b"." * 30)
    os.utime(lock, (time.time() - 10, time.time() - 10))
    assert not claim_start(tmp_path)
    os.utime(lock, (time.time() - 70, time.time() - 70))
    assert claim_start(tmp_path)


def test_programs_own_folder_comes_last() -> None:
    """A file of the user's named like a module of the library's is not taken for it."""
    code = "import json; from otel_trace.emit.launch import list_packages; print(json.dumps(list_packages()))"
    folder = Path(os.environ["OTELTRACE_DIR"])
    folder.mkdir()
    (folder / "program.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    packages = json.loads(done.stdout)
    assert str(folder) == packages[-1]
    assert str(REPOSITORY) in packages[:-1]
    assert all(Path(path).is_absolute() for path in list_packages())


CLEAN = (
    PRELUDE
    + """
import socket, threading
secret = open(os.environ["OTELTRACE_DIR"] + "-secret", "w")
os.set_inheritable(secret.fileno(), True)
plug = socket.socket(); os.set_inheritable(plug.fileno(), True)
os.sched_setaffinity(0, {0})
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
ot.configure()
work(1)
delivered = ot.flush()
try:
    children = os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    children = None
print(json.dumps([os.getpid(), os.getsid(0), secret.name, delivered, children]))
"""
)


def test_shipper_is_a_clean_child(fake: HttpFake, root: Path, tmp_path: Path) -> None:
    """It has its own session and nothing of the job's: descriptors, folder, hooks, cores, priority, signals, parent."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text("")
    (hooks / "requests.py").write_text("raise SystemExit('the hook of the user')")
    outcome = run_program(
        CLEAN,
        OTEL_EXPORTER_OTLP_ENDPOINT=fake.url,
        OTEL_EXPORTER_OTLP_HEADERS="x=y",
        OTELTRACE_VALUES="all",
        PYTHONPATH=f"{REPOSITORY}",
        PYTHONSTARTUP=str(hooks / "sitecustomize.py"),
        BASH_ENV=str(hooks / "sitecustomize.py"),
        ENV=str(hooks / "sitecustomize.py"),
        LD_PRELOAD="",
        COVERAGE_PROCESS_START="x",
    )
    pid, session, secret, delivered, children = outcome.printed
    assert (True, None) == (delivered, children)
    (found,) = find_shippers(root)
    shipper = describe_shipper(found)
    (folder,) = root.glob("*/*")
    assert str(folder) == shipper.folder
    assert session != shipper.session != os.getsid(0)
    assert pid != shipper.parent != os.getpid()
    assert ("/", 10) == (shipper.cwd, shipper.nice)
    assert list(range(os.cpu_count() or 1)) == shipper.affinity
    assert {signal.SIGINT, signal.SIGTERM, signal.SIGHUP} <= shipper.ignored
    changing = ("PYTHON", "OTELTRACE_", "LD_PRELOAD", "BASH_ENV", "COVERAGE_")
    assert [] == [name for name in shipper.environment if name.startswith(changing) or name == "ENV"]
    assert (fake.url, "x=y") == tuple(
        shipper.environment[f"OTEL_EXPORTER_OTLP_{name}"] for name in ("ENDPOINT", "HEADERS")
    )
    files = {
        path
        for path in shipper.descriptors.values()
        if not path.startswith(("socket:", "anon_inode:", "pipe:"))
    }
    assert secret not in files
    assert {"/dev/null", str(folder / LOG_NAME), str(folder / LOCK_NAME)} <= files
    assert [] == [path for path in files if path != "/dev/null" and not path.startswith(str(folder))]
    assert {"/dev/null"} == {shipper.descriptors[0], shipper.descriptors[1]}
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(found, number)
    time.sleep(0.2)
    assert [found] == find_shippers(root)


def test_files_of_a_shipper_are_the_owners(fake: HttpFake, root: Path) -> None:
    """Lock, log and state may be read by nobody else."""
    run_program(PRELUDE + "ot.configure(); work(1); ot.flush()", OTEL_EXPORTER_OTLP_ENDPOINT=fake.url)
    modes = {path.name: path.stat().st_mode & 0o777 for path in root.glob("*/*/shipper.*")}
    assert {"shipper.json": 0o600, "shipper.lock": 0o600, "shipper.log": 0o600} == modes


@pytest.mark.parametrize("word", ["off", "service"])
def test_no_shipper_where_it_is_not_ours_to_start(root: Path, word: str) -> None:
    """With `off`, and where a service of the node ships, no process is started and no lock is made."""
    outcome = run_program(
        PRELUDE + "ot.configure()\nwork(1)\nprint(json.dumps(ot.flush(0.2)))",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1",
        OTELTRACE_SHIPPER=word,
    )
    assert ([], [], "") == (find_shippers(root), list(root.rglob("shipper.*")), outcome.stderr)
    assert (word == "off") == outcome.printed


def test_no_shipper_without_an_exporter(root: Path) -> None:
    """The journal alone starts nothing."""
    assert True is run_program(PRELUDE + "ot.configure()\nwork(1)\nprint(json.dumps(ot.flush()))").printed
    assert [] == list(root.rglob("shipper.*"))


def test_forbidden_processes_are_told_once(root: Path) -> None:
    """Where starting a process is forbidden, one line says so and what to do; the spans are in the journal."""
    outcome = run_program(
        PRELUDE
        + """
def forbid(*args, **kwargs):
    raise PermissionError(1, "Operation not permitted")
subprocess.Popen = forbid
ot.configure()
for number in range(2):
    work(number)
    time.sleep(1.1)
""",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1",
    )
    (folder,) = root.glob("*/*")
    why = "cannot start the shipper ([Errno 1] Operation not permitted)"
    assert f"otel_trace: {why}; send later with: otel-trace ship {folder}\n" == outcome.stderr
    assert 2 == len(outcome.spans)


def test_shell_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A shell that cannot fork says so by its exit code."""
    from otel_trace import _guard
    from otel_trace.emit import launch

    _guard.forget_what_was_told()
    monkeypatch.setattr(launch, "_SHELL", "exit 2")
    ensure_shipper(tmp_path)
    assert (
        "cannot start the shipper (the shell ended with 2); send later with: otel-trace ship" in caplog.text
    )


def test_foreign_provider_ships_only_when_asked(fake: HttpFake, root: Path) -> None:
    """Where the program's own provider has exporters, nothing is sent twice, unless `ship=True` says so."""
    code = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
trace.set_tracer_provider(TracerProvider())
ot.configure({})
work(1)
print(json.dumps(ot.flush()))
"""
    run_program(PRELUDE + code.format(""), OTEL_EXPORTER_OTLP_ENDPOINT=fake.url)
    assert ([], []) == (fake.bodies, list(root.rglob("shipper.*")))
    assert (
        True is run_program(PRELUDE + code.format("ship=True"), OTEL_EXPORTER_OTLP_ENDPOINT=fake.url).printed
    )
    assert 1 == len(fake.bodies)


def start_rank(url: str, code: str, **environ: str) -> "subprocess.Popen[str]":
    """Start one process of a run."""
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + code],
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "OTELTRACE_RUN_ID": "r",
            "OTEL_EXPORTER_OTLP_ENDPOINT": url,
            **environ,
        },
        stdout=subprocess.PIPE,
        text=True,
    )


def test_one_shipper_for_eight_ranks(fake: HttpFake, root: Path) -> None:
    """Eight processes that begin at once have one shipper, which was started once."""
    ranks = [start_rank(fake.url, "ot.configure(); work(1); time.sleep(1.5); work(2)") for _ in range(8)]
    seen: set[int] = set()
    while any(rank.poll() is None for rank in ranks):
        seen.update(find_shippers(root))
        time.sleep(0.05)
    for rank in ranks:
        rank.communicate()
    assert 1 == len(seen)
    assert b"." == next(root.glob("*/*/shipper.lock")).read_bytes()


def test_killed_shipper_is_replaced_within_5_s(fake: HttpFake, root: Path) -> None:
    """The process that emits next starts another shipper, and every span arrives."""
    rank = start_rank(
        fake.url,
        """
ot.configure()
for number in range(50):
    work(number)
    time.sleep(0.1)
print(json.dumps(ot.flush()))
""",
    )
    (first,) = wait_for(lambda: find_shippers(root))
    os.kill(first, signal.SIGKILL)
    killed_at = time.monotonic()
    (second,) = wait_for(lambda: [pid for pid in find_shippers(root) if pid != first])
    took = time.monotonic() - killed_at
    assert "true\n" == rank.communicate()[0]
    assert 5 > took
    assert second != first
