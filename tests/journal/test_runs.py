from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

from otel_trace.cluster.process import ProcessKey, host_name
from otel_trace.config import Keep
from otel_trace.journal import hold, runs
from otel_trace.journal.bound import parse_name
from otel_trace.journal.runs import find_runs, remove_old_runs
from tests.journal.factories import DEAD, fill_with, write_spans, writing

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

DAY = 86_400
ALL = Keep(days=7, num_bytes=2**40)


def make_run(root: Path, run_id: str, *, days: float = 0, host: str = "", key: ProcessKey = DEAD) -> Path:
    """Return the folder of a run that wrote last some days ago; it takes 4 KiB on the disk."""
    folder = root / run_id / (host or host_name())
    folder.mkdir(parents=True)
    path = fill_with(folder, 3, key=key)
    moment = time.time() - days * DAY
    os.utime(path, (moment, moment))
    return root / run_id


def test_runs_are_found_newest_first(tmp_path: Path) -> None:
    """With their hosts, processes and bytes; what is no journal is passed over."""
    make_run(tmp_path, "old", days=2)
    make_run(tmp_path, "new", days=1)
    (tmp_path / "notes").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "old")
    found = find_runs(tmp_path)
    assert ["new", "old"] == [run.run_id for run in found]
    assert ([host_name()], [DEAD], 4096) == (found[0].hosts, found[0].processes, found[0].num_bytes)


def test_root_that_is_not_there_has_no_runs(tmp_path: Path) -> None:
    """Nobody has traced yet."""
    assert [] == find_runs(tmp_path / "nowhere")


def test_run_with_a_live_process_is_alive(tmp_path: Path) -> None:
    """Its processes are asked, on this host."""
    make_run(tmp_path, "over")
    with writing(tmp_path / "on" / host_name()) as writer:
        write_spans(writer, 1)
        assert {"over": False, "on": True} == {run.run_id: run.is_alive for run in find_runs(tmp_path)}


def test_old_runs_are_removed(tmp_path: Path) -> None:
    """What is older than the days to keep goes; the rest stays."""
    for days in (1, 6, 8, 30):
        make_run(tmp_path, f"age-{days}", days=days)
    assert {"age-8", "age-30"} == set(remove_old_runs(tmp_path, ALL, "current"))
    assert ["age-1", "age-6"] == [run.run_id for run in find_runs(tmp_path)]


def test_old_folders_without_a_journal_are_removed(tmp_path: Path) -> None:
    """A run that wrote nothing leaves no folder for ever; what is not ours to know stays."""
    for name in ("empty/node1", "fresh/node1", "current/node1", "other/data"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "other" / "data" / "file").touch()
    for name in ("empty", "current", "other"):
        os.utime(tmp_path / name, (1, 1))
    assert [] == remove_old_runs(tmp_path, ALL, "current")
    assert ["current", "fresh", "other"] == sorted(path.name for path in tmp_path.iterdir())
    assert (tmp_path / "other" / "data" / "file").exists()


def test_oldest_runs_are_removed_when_there_are_too_many_bytes(tmp_path: Path) -> None:
    """Over all runs no more is kept than the bytes allow."""
    for days in range(5):
        make_run(tmp_path, f"age-{days}", days=days)
    removed = remove_old_runs(tmp_path, Keep(days=7, num_bytes=3 * 4096), "current")
    assert ["age-3", "age-4"] == removed


def test_live_and_current_runs_stay(tmp_path: Path) -> None:
    """However old and large, a run that goes on is not touched."""
    make_run(tmp_path, "current", days=30)
    parent = ProcessKey(os.getppid(), runs_start(os.getppid()))
    make_run(tmp_path, "alive", days=30, key=parent)
    assert [] == remove_old_runs(tmp_path, Keep(days=1, num_bytes=0), "current")


def runs_start(pid: int) -> int:
    """Return when a live process began."""
    from otel_trace.cluster.process import read_start

    return read_start(pid) or 0


def test_runs_of_other_hosts_go_by_age_alone(tmp_path: Path) -> None:
    """Whether they are over cannot be seen here, so that they are not removed for their size."""
    make_run(tmp_path, "elsewhere", days=3, host="another-host")
    make_run(tmp_path, "elsewhere-old", days=8, host="another-host")
    assert ["elsewhere-old"] == remove_old_runs(tmp_path, Keep(days=7, num_bytes=0), "current")


def test_only_one_process_removes_at_a_time(tmp_path: Path) -> None:
    """Another one that holds the root's lock does it; nobody waits."""
    make_run(tmp_path, "old", days=30)
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        assert hold.take(fd)
        assert [] == remove_old_runs(tmp_path, ALL, "current")
    finally:
        os.close(fd)
    assert ["old"] == remove_old_runs(tmp_path, ALL, "current")


def test_file_system_without_locks_keeps_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody can lock the root nothing is removed, and nothing fails."""
    make_run(tmp_path, "old", days=30)
    monkeypatch.setattr(runs, "take", lambda _: False)
    assert [] == remove_old_runs(tmp_path, ALL, "current")


def test_run_that_vanishes_meanwhile_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody may delete a run while the runs are listed."""
    make_run(tmp_path, "gone")
    make_run(tmp_path, "there")
    real = parse_name

    def vanish(name: str) -> object:
        shutil.rmtree(tmp_path / "gone", ignore_errors=True)
        return real(name)

    monkeypatch.setattr(runs, "parse_name", vanish)
    assert ["there"] == [run.run_id for run in find_runs(tmp_path)]
