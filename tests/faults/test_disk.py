"""A disk that is full, read-only, forbidden or gone: training goes on, one line says so, the loss is counted."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.faults.mounts import MIB, fill, forbid_writing, mounted
from tests.faults.producing import APPENDED, RUN, Outcome, explain, read_journal, run_program, run_without_us

EMIT = "spans(3000)\nreport()\n"
NO_SPACE = "otel_trace: cannot write the journal ([Errno 28] No space left on device); spans are lost and counted until it can"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of other users")


def check_ledger(folder: Path, outcome: Outcome) -> dict[str, Any]:
    """Check that created = in the journal + dropped, and return what was dropped by reason."""
    run = read_journal(folder)
    dropped = {
        reason: number
        for reason, number in outcome.report["lost"].items()
        if "_" not in reason or reason == "no_space"
    }
    assert outcome.report["created"] == sum(dropped.values()) + len(run.spans), explain(run)
    assert not run.damage
    return dropped


def check_unharmed(outcome: Outcome, warnings: list[str]) -> None:
    """Check that the program ended well and that we wrote these lines and no other."""
    assert (0, "\n".join(warnings)) == (outcome.returncode, outcome.stderr.strip())


def test_disk_that_is_full_from_the_start(tmp_path: Path) -> None:
    """Nothing can be written: everything is counted, and told once."""
    with mounted(tmp_path / "disk", megabytes=8) as disk:
        fill(disk, leave=MIB // 2)
        outcome = run_program(disk, EMIT)
        check_unharmed(outcome, [NO_SPACE])
        assert {"no_space": 3000} == check_ledger(disk, outcome)


FILLS_UP = """
spans(1)
with open(os.environ["OTELTRACE_DIR"] + "/filler", "wb") as file:
    state = os.statvfs(os.environ["OTELTRACE_DIR"])
    os.posix_fallocate(file.fileno(), 0, state.f_bavail * state.f_frsize)
spans(30_000)
"""


def test_disk_that_fills_up(tmp_path: Path) -> None:
    """The segment that is open is filled to its end; the loss after it is on the disk too, in its reserved page."""
    with mounted(tmp_path / "disk", megabytes=8) as disk:
        outcome = run_program(disk, FILLS_UP + "report()")
        check_unharmed(outcome, [NO_SPACE])
        dropped = check_ledger(disk, outcome)
        run = read_journal(disk)
        assert {"no_space"} == set(dropped)
        assert outcome.report["created"] == run.ledger["created"]
        assert 5000 < len(run.spans) < 30_000


def test_disk_that_has_room_again(tmp_path: Path) -> None:
    """A second after there is room the journal goes on."""
    again = 'os.unlink(os.environ["OTELTRACE_DIR"] + "/filler")\ntime.sleep(1.1)\nspans(100, first=10**6)\nreport()'
    with mounted(tmp_path / "disk", megabytes=8) as disk:
        outcome = run_program(disk, FILLS_UP + again)
        check_unharmed(outcome, [NO_SPACE])
        assert {"no_space"} == set(check_ledger(disk, outcome))
        last = [span for span in read_journal(disk).spans if span.attributes["param.number"] >= 10**6]
        assert 100 == len(last)
        assert outcome.report["created"] == read_journal(disk).ledger["created"]


@pytest.mark.parametrize("kilobytes", [0, 64, 1500])
def test_largest_file_size(tmp_path: Path, kilobytes: int) -> None:
    """A limit on the size of files is a full disk like any other, and no signal."""
    limit = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({kilobytes} * 1024,) * 2)\n"
    outcome = run_program(tmp_path, limit + "spans(20_000)\nreport()")
    warning = "otel_trace: cannot write the journal ([Errno 27] File too large); spans are lost and counted until it can"
    check_unharmed(outcome, [warning])
    dropped = check_ledger(tmp_path, outcome)
    assert {"no_space"} == set(dropped)
    assert (dropped["no_space"] == 20_000) == (kilobytes < 1024)


def test_no_descriptors_left(tmp_path: Path) -> None:
    """A program that has used up its descriptors is not harmed."""
    program = """
import resource
spans(1)
ot.shutdown()
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
held = []
try:
    while True:
        held.append(os.dup(0))
except OSError:
    pass
spans(10)
for fd in held:
    os.close(fd)
time.sleep(1.1)
spans(10)
report()
"""
    outcome = run_program(tmp_path, program)
    assert (0, 1) == (outcome.returncode, len(outcome.warnings))
    assert {"no_space": 10} == check_ledger(tmp_path, outcome)


def test_read_only_folder(tmp_path: Path) -> None:
    """Nothing can be written: everything is counted, and told once."""
    with mounted(tmp_path / "disk", megabytes=8) as disk:
        forbid_writing(disk)
        outcome = run_program(disk, EMIT)
        message = f"[Errno 30] Read-only file system: '{disk / RUN}'"
        check_unharmed(
            outcome,
            [f"otel_trace: cannot write the journal ({message}); spans are lost and counted until it can"],
        )
        assert 3000 == outcome.report["lost"]["no_space"]


@pytest.mark.parametrize("what", ["host", "run", "root"])
def test_folder_removed_while_in_use(tmp_path: Path, what: str) -> None:
    """The folder is made again with what was in it; a line says so."""
    root = tmp_path / "journal"
    program = f"""
import shutil
from pathlib import Path
spans(50)
folder = next(Path({str(root)!r}).glob("*/*"))
shutil.rmtree({{"host": folder, "run": folder.parent, "root": folder.parent.parent}}[{what!r}])
time.sleep(1.1)
spans(50, first=1000)
report()
"""
    outcome = run_program(root, program)
    (host,) = (root / RUN).iterdir()
    check_unharmed(outcome, [f"otel_trace: the folder {host} was removed while in use; making it again"])
    assert {} == check_ledger(root, outcome)
    assert 100 == len(read_journal(root).spans)


def test_folder_removed_again_and_again(tmp_path: Path) -> None:
    """However often it goes, every span is in the journal or counted as removed."""
    root = tmp_path / "journal"
    program = f"""
import shutil
for number in range(20):
    spans(700)
    shutil.rmtree({str(root)!r}, ignore_errors=True)
spans(700)
report()
"""
    outcome = run_program(root, program)
    assert (0, 1) == (outcome.returncode, len(outcome.warnings))
    ledger = read_journal(root).ledger
    assert {"created", "journal", "removed"} == set(ledger)
    assert outcome.report["created"] == ledger["created"]


HOSTILE = {
    "symbolic link": "is a symbolic link; set OTELTRACE_DIR to the folder itself",
    "file": "is not a folder; set OTELTRACE_DIR to another one",
    "foreign": "belongs to user 65534, not to you; set OTELTRACE_DIR to one of yours",
}


@needs_root
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("place", ["", RUN])
def test_hostile_folder(tmp_path: Path, kind: str, place: str) -> None:
    """A folder that is not safely ours is refused with a line that says what to do; nothing is written there."""
    root = tmp_path / "journal"
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if kind == "symbolic link":
        path.symlink_to(elsewhere)
    elif kind == "file":
        path.touch()
    else:
        path.mkdir()
        os.chown(path, 65534, 65534)
    outcome = run_program(root, EMIT)
    refusal = f"the journal's folder {path} {HOSTILE[kind]}"
    check_unharmed(
        outcome,
        [f"otel_trace: cannot write the journal ({refusal}); spans are lost and counted until it can"],
    )
    assert 3000 == outcome.report["lost"]["no_space"]
    assert [] == list(elsewhere.iterdir())
    assert kind != "foreign" or [] == list(path.iterdir())


@pytest.mark.parametrize("trouble", ["full", "read-only", "gone"])
def test_result_of_the_program_is_as_without_us(tmp_path: Path, trouble: str) -> None:
    """Whatever is wrong with the disk, the program computes the same and exits the same."""
    program = "spans(1000)\nprint(work(7), work(8, then=lambda: [9]))\nsys.exit(5)"
    with mounted(tmp_path / "disk", megabytes=8) as disk:
        expected = run_without_us(disk, program)
        if trouble == "full":
            fill(disk, leave=0)
        elif trouble == "read-only":
            forbid_writing(disk)
        folder = disk if trouble != "gone" else Path("/proc/nowhere")
        outcome = run_program(folder, program)
        assert (expected.returncode, expected.stdout) == (outcome.returncode, outcome.stdout)
        assert 1 == len(outcome.stderr.splitlines()) == len(outcome.warnings)


def test_network_file_system(tmp_path: Path) -> None:
    """Where files are not mapped all is the same: kills, forks and removal."""
    program = (
        APPENDED
        + """
spans(1000)
if os.fork() == 0:
    spans(1000)
    os.kill(os.getpid(), signal.SIGKILL)
os.wait()
with ot.span("last"):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    )
    outcome = run_program(tmp_path, program)
    run = read_journal(tmp_path)
    assert ("", 2001, {"last"}) == (
        outcome.stderr,
        len(run.spans),
        {span.name for span in run.spans if span.is_open},
    )
    assert not run.damage
    shutil.rmtree(tmp_path / RUN)
