"""The shipper's process: made clean, alone on its run, ended by its own rule."""

import contextlib
import fcntl
import os
import signal
import sys
import time
from pathlib import Path

from otel_trace.journal.delivery import LOCK_NAME
from otel_trace.ship.senders import make_sender
from otel_trace.ship.shipper import Shipper

_NICE = 10


def run(folder: Path, *, is_following: bool = False) -> int:
    """Ship the journals of one run on this host, unless another shipper does."""
    lock = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0
    Shipper(folder, make_sender(), log_line).run(is_following=is_following)
    return 0


def become_clean() -> None:
    """Take nothing from the job: not its signals, its cores, nor its priority."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    with contextlib.suppress(OSError):
        os.nice(_NICE)


def log_line(message: str) -> None:
    """Write a line to the log beside the journals (our standard error)."""
    sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {message}\n")
    sys.stderr.flush()


def main() -> int:
    """Run as a child: the folder is the last argument."""
    become_clean()
    return run(Path(sys.argv[-1]))


if __name__ == "__main__":
    sys.exit(main())
