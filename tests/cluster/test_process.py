from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from otel_trace.cluster.process import (
    ProcessKey,
    host_name,
    is_alive,
    read_launcher,
    read_start,
    this_process,
)

WAIT = "import time; time.sleep(60)"

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")


def test_this_process_is_alive_and_has_a_key_of_its_own() -> None:
    """A process is told by its number and the moment it began, the same each time it asks."""
    key = this_process()
    assert (os.getpid(), key) == (key.pid, this_process())
    assert f"{os.getpid()}-{key.start}" == str(key)
    assert is_alive(key)


@needs_proc
def test_a_number_used_again_is_another_process() -> None:
    """The same process id with another beginning is not the same process."""
    key = this_process()
    assert 0 < key.start
    assert not is_alive(ProcessKey(key.pid, key.start - 1))


def test_a_process_that_ended_is_not_alive() -> None:
    """A child is alive until it was waited for."""
    with subprocess.Popen([sys.executable, "-c", WAIT]) as child:
        key = ProcessKey(child.pid, read_start(child.pid) or 0)
        assert is_alive(key)
        child.kill()
    assert read_start(key.pid) is None
    assert not is_alive(key)


@needs_proc
def test_a_zombie_is_not_alive() -> None:
    """A process that was killed and not waited for will write nothing more."""
    with subprocess.Popen([sys.executable, "-c", WAIT]) as child:
        key = ProcessKey(child.pid, read_start(child.pid) or 0)
        os.kill(child.pid, signal.SIGKILL)
        wait_for_state(child.pid, "Z")
        assert not is_alive(key)


def wait_for_state(pid: int, state: str) -> None:
    """Wait until the system says that a process is in a state."""
    deadline = time.monotonic() + 10
    while f") {state} " not in Path(f"/proc/{pid}/stat").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@needs_proc
def test_a_process_may_have_any_name(tmp_path: Path) -> None:
    """A name with brackets, spaces and a line break hides nothing that comes after it."""
    program = tmp_path / "a) R 1 (\nb"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "60"]) as child:
        wait_for_name(child.pid)
        start = read_start(child.pid)
        child.kill()
    assert start is not None
    assert 0 <= start - this_process().start


def wait_for_name(pid: int) -> None:
    """Wait until a child runs its own program."""
    deadline = time.monotonic() + 10
    while "a) R" not in Path(f"/proc/{pid}/comm").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_impossible_processes_are_not_alive() -> None:
    """Numbers that no process has are no error."""
    assert [False] * 3 == [is_alive(ProcessKey(pid, 1)) for pid in (0, -1, 2**70)]


def test_a_machine_has_a_name() -> None:
    """The host's name is never empty."""
    assert host_name()


@needs_proc
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_the_launcher_is_the_ancestor_without_the_ranks_variables(levels: int) -> None:
    """Shells and spawned processes between the agent and the one that asks do not matter."""
    program = (
        "import subprocess, sys; from otel_trace.cluster.process import read_launcher\n"
        "levels = int(sys.argv[1])\n"
        "if levels > 1: sys.exit(subprocess.call([sys.executable, '-c', sys.argv[2], str(levels - 1), sys.argv[2]]))\n"
        "print(read_launcher({'RANK': '1', 'MASTER_PORT': '5'}))"
    )
    environ = {**os.environ, "RANK": "1", "MASTER_PORT": "5"}
    command = [sys.executable, "-c", program, str(levels), program]
    told = subprocess.run(command, env=environ, check=True, capture_output=True, text=True).stdout.strip()
    assert f"{host_name()}:{os.getpid()}:{this_process().start}" == told


@needs_proc
def test_without_a_launcher_the_parent_is_told() -> None:
    """With nothing to look for, or nothing found, the nearest parent is taken."""
    parent = f"{host_name()}:{os.getppid()}:{read_start(os.getppid())}"
    assert [parent, parent] == [read_launcher({}), read_launcher({"RANK": "no such"})]
    assert re.fullmatch(r".+:\d+:\d+", parent)
