"""Shippers as processes: which there are for a journal's root, and what the system tells of one."""

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from otel_trace.journal.delivery import Delivery, read_delivery

_T = TypeVar("_T")


@dataclass(frozen=True)
class ShipperProcess:
    """What the system tells of a shipper."""

    pid: int
    parent: int
    session: int
    nice: int
    folder: str
    cwd: str
    affinity: list[int]
    environment: dict[str, str]
    descriptors: dict[int, str]
    ignored: set[int]
    packages: list[str]


def find_shippers(root: Path) -> list[int]:
    """Return the process ids of the shippers below a root."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            is_python = os.path.basename(words[0]).startswith(b"python")  # noqa: PTH119 (bytes); not the shell before it
            is_ours = is_python and any(b"otel_trace.ship.main" in word for word in words)
            if is_ours and words[-2].startswith(os.fsencode(root)):
                found.append(int(folder.name))
    return found


def describe_shipper(pid: int) -> ShipperProcess:
    """Return what the system tells of a shipper that runs."""
    folder = Path(f"/proc/{pid}")
    words = (folder / "cmdline").read_bytes().decode().split("\0")
    status = dict(
        line.split(":\t", 1) for line in (folder / "status").read_text().splitlines() if ":\t" in line
    )
    pairs = (folder / "environ").read_bytes().decode().split("\0")
    mask = int(status["SigIgn"], 16)
    return ShipperProcess(
        pid=pid,
        parent=int(status["PPid"]),
        session=os.getsid(pid),
        nice=os.getpriority(os.PRIO_PROCESS, pid),
        folder=words[-2],
        cwd=str((folder / "cwd").readlink()),
        affinity=sorted(os.sched_getaffinity(pid)),
        environment=dict(pair.split("=", 1) for pair in pairs if "=" in pair),
        descriptors=dict(list_descriptors(folder)),
        ignored={number for number in range(1, 32) if mask >> (number - 1) & 1},
        packages=json.loads(words[-3]),
    )


def list_descriptors(folder: Path) -> Iterator[tuple[int, str]]:
    """Yield the open descriptors of a process, with what they lead to."""
    for path in (folder / "fd").iterdir():
        with contextlib.suppress(OSError):
            yield int(path.name), str(path.readlink())


def wait_for(ask: Callable[[], _T], seconds: float = 15.0) -> _T:
    """Ask until the answer is true; return the last answer."""
    deadline = time.monotonic() + seconds
    while not (answer := ask()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return answer


def wait_until_gone(root: Path, seconds: float = 15.0) -> bool:
    """Wait until no shipper below a root is left."""
    return wait_for(lambda: not find_shippers(root), seconds)


def end_shippers(root: Path) -> None:
    """Kill the shippers below a root, which the test's programs have started."""
    for pid in find_shippers(root):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert wait_until_gone(root)


def read_only_delivery(root: Path) -> Delivery | None:
    """Return what the shipper of the only run below a root has written down."""
    return next((found for folder in root.glob("*/*") if (found := read_delivery(folder))), None)
