"""One process of one machine: told apart from every other, also when its number is used again."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_MAX_ANCESTORS = 64


@dataclass(frozen=True)
class ProcessKey:
    """A process id with the moment its process began, in clock ticks since the machine started."""

    pid: int
    start: int

    def __str__(self) -> str:
        return f"{self.pid}-{self.start}"


def read_start(pid: int | str) -> int | None:
    """Give the start of a live process, 0 where the system does not tell, None if there is none."""
    fields = _read_stat(pid)
    if fields is None:
        return _probe(pid)
    return None if fields[0] in {b"Z", b"X"} else int(fields[19])


def _read_stat(pid: int | str) -> list[bytes] | None:
    """Give what Linux tells of a process, from its state on (a name may hold anything)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return stat[stat.rindex(b")") + 2 :].split()


def _probe(pid: int | str) -> int | None:
    if pid == "self" or Path("/proc/self/stat").exists():
        return 0 if pid == "self" else None
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return 0
    return 0


def this_process() -> ProcessKey:
    """Give the key of the process that asks."""
    return ProcessKey(os.getpid(), read_start("self") or 0)


def is_alive(key: ProcessKey) -> bool:
    """Say whether that very process still runs on this machine."""
    return read_start(key.pid) == key.start


def host_name() -> str:
    """Give the name of this machine, never empty."""
    return socket.gethostname() or "localhost"


def read_launcher(told: Mapping[str, str]) -> str:
    """Give a text that tells the nearest ancestor that was not started with these variables from all others.

    That is the launcher's agent, also when a shell, or a process that the rank has spawned, is in between.
    """
    wanted = {f"{name}={value}".encode("utf-8", "surrogateescape") for name, value in told.items()}
    pid = os.getppid()
    for _ in range(_MAX_ANCESTORS):
        if not wanted or not wanted <= _read_environ(pid):
            break
        pid = int((_read_stat(pid) or [b"", b"0"])[1])
    return f"{host_name()}:{pid}:{read_start(pid) or 0}"


def _read_environ(pid: int) -> set[bytes]:
    """Give the variables with which a process of ours was started; none where that is not told."""
    try:
        return set(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
    except OSError:
        return set()
