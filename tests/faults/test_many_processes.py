"""Eight processes of one node at once, in one folder: each span is in the journal or counted."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.faults.mounts import MIB, mounted
from tests.faults.producing import choose, command_of, explain, list_segments, make_environment, read_journal

if TYPE_CHECKING:
    from pathlib import Path

NUM_PROCESSES = 8


def run_together(folder: Path, program: str) -> list[str]:
    """Run a program in eight processes of one run; return what each wrote on stderr."""
    environment = make_environment(folder)
    processes = [
        subprocess.Popen(
            command_of(program), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        for _ in range(NUM_PROCESSES)
    ]
    errors = [process.communicate(timeout=300)[1] for process in processes]
    assert [0] * NUM_PROCESSES == [process.returncode for process in processes], errors
    return errors


def test_processes_of_one_run_share_a_folder(tmp_path: Path) -> None:
    """Every process has its own segments, and nothing is lost."""
    number = choose(short=3000, long=50_000)
    assert [""] * NUM_PROCESSES == run_together(tmp_path, f"spans({number})")
    run = read_journal(tmp_path)
    expected = NUM_PROCESSES * number
    assert {"created": expected, "journal": expected} == run.ledger, explain(run)
    assert NUM_PROCESSES == len(run.processes)
    assert not run.damage


@pytest.mark.timeout(400)
def test_processes_that_evict_each_others_segments(tmp_path: Path) -> None:
    """With far less room than they write the bound holds, and the ledger closes over all evictions."""
    number = choose(short=20_000, long=200_000)
    with mounted(tmp_path / "disk", megabytes=160) as disk:
        errors = run_together(disk, f"spans({number})")
        run = read_journal(disk)
        assert [""] * NUM_PROCESSES == errors
        assert NUM_PROCESSES * number == run.ledger["created"], explain(run)
        assert 0 < run.ledger["evicted"]
        assert {"created", "journal", "evicted"} == set(run.ledger)
        assert 17 * MIB >= sum(path.stat().st_blocks * 512 for path in list_segments(disk))
        assert not run.damage


def test_workers_that_were_killed_leave_room_for_others(tmp_path: Path) -> None:
    """Their segments, allocated to the full, are cut when room is needed, and none of their spans is lost."""
    killed = "spans(10)\nos.kill(os.getpid(), signal.SIGKILL)"
    program = f"""
for number in range(30):
    if os.fork() == 0:
        {killed.replace(chr(10), chr(10) + " " * 8)}
    os.wait()
spans(10)
"""
    with mounted(tmp_path / "disk", megabytes=40) as disk:
        assert [""] * 1 == [
            subprocess.run(
                command_of(program),
                env=make_environment(disk),
                capture_output=True,
                text=True,
                check=True,
                timeout=100,
            ).stderr
        ]
        run = read_journal(disk)
        assert {"created": 310, "journal": 310} == run.ledger, explain(run)
        assert 5 * MIB >= sum(path.stat().st_blocks * 512 for path in list_segments(disk))
