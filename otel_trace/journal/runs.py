"""The runs whose journals stand on this machine, and for how long they are kept."""

import contextlib
import importlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from otel_trace.cluster.process import ProcessKey, host_name, is_alive
from otel_trace.config import Keep
from otel_trace.journal.bound import parse_name
from otel_trace.journal.hold import take

_DAY = 86_400 * 10**9


@dataclass(frozen=True)
class RunFolder:
    """The journals of one run on this machine."""

    run_id: str
    path: Path
    newest_ns: int
    num_bytes: int
    hosts: list[str]
    processes: list[ProcessKey]

    @property
    def is_alive(self) -> bool:
        """Say whether a process of the run still writes on this host."""
        return host_name() in self.hosts and any(is_alive(key) for key in self.processes)


def find_runs(root: Path) -> list[RunFolder]:
    """Give the runs below a root, newest first; what is no journal is passed over."""
    if not root.is_dir():
        return []
    runs = [
        run
        for path in root.iterdir()
        if path.is_dir() and not path.is_symlink()
        if (run := _read_folder(path))
    ]
    return sorted(runs, key=lambda run: run.newest_ns, reverse=True)


def _read_folder(path: Path) -> RunFolder | None:
    newest, total = 0, 0
    hosts: set[str] = set()
    processes: set[ProcessKey] = set()
    with contextlib.suppress(OSError):  # another process removes it
        for file in path.glob("*/*.seg"):
            parsed = parse_name(file.name)
            if parsed:
                state = file.lstat()
                newest = max(newest, state.st_mtime_ns)
                total += state.st_blocks * 512
                hosts.add(file.parent.name)
                processes.add(parsed[0])
    if not processes:
        return None
    return RunFolder(path.name, path, newest, total, sorted(hosts), sorted(processes, key=str))


def remove_old_runs(root: Path, keep: Keep, current: str) -> list[str]:
    """Delete runs that are over and too old or too much, oldest first; give their ids.

    Whether a run of another host still goes on cannot be seen from here: it goes by age alone.
    """
    removed = []
    with _only_one(root) as is_mine:
        total, oldest_ns = 0, time.time_ns() - int(keep.days * _DAY)
        for run in find_runs(root) if is_mine else ():
            total += run.num_bytes
            is_ours_alone = run.hosts == [host_name()]
            is_past = run.newest_ns < oldest_ns or (total > keep.num_bytes and is_ours_alone)
            if is_past and run.run_id != current and not run.is_alive:
                importlib.import_module("shutil").rmtree(run.path, ignore_errors=True)
                removed.append(run.run_id)
                total -= run.num_bytes
        if is_mine:
            _remove_empty(root, oldest_ns, current)
    return removed


def _remove_empty(root: Path, oldest_ns: int, current: str) -> None:
    """Remove the old folders of runs that have written nothing."""
    for folder in root.iterdir():
        with contextlib.suppress(OSError):  # another one's, or not empty
            if folder.name != current and folder.lstat().st_mtime_ns < oldest_ns:
                for host in folder.iterdir():
                    host.rmdir()
                folder.rmdir()


@contextlib.contextmanager
def _only_one(root: Path) -> Iterator[bool]:
    """Hold the root's lock, or say that another process has it or that there are no locks."""
    fd = os.open(root, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        yield take(fd)
    finally:
        os.close(fd)
