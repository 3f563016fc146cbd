"""One process of one machine: told apart from every other, also when its number is used again."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ProcessKey:
    """A process id with the moment its process began, in clock ticks since the machine started."""

    pid: int
    start: int

    def __str__(self) -> str:
        return f"{self.pid}-{self.start}"


def read_start(pid: int | str) -> int | None:
    """Give the start of a live process, 0 where the system does not tell, None if there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return _probe(pid)
    fields = stat[stat.rindex(b")") + 2 :].split()
    return None if fields[0] in {b"Z", b"X"} else int(fields[19])


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


def read_parent() -> str:
    """Give a text that tells the parent process (a launcher's agent) from every other one."""
    parent = os.getppid()
    return f"{host_name()}:{parent}:{read_start(parent) or 0}"
