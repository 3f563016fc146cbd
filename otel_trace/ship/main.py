"""The shipper's process: made clean, alone on its run, ended by its own rule."""

import contextlib
import fcntl
import os
import signal
import sys
import time
from pathlib import Path

from otel_trace.journal.delivery import LOCK_NAME, STATE_NAME, is_of_another_version
from otel_trace.ship.senders import LazySender
from otel_trace.ship.shipper import Shipper

_NICE = 10
_PATIENCE = 0.5  # for a producer that holds the lock only to see whether we are there
_LEFT_TO_US = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def run(folder: Path) -> int:
    """Ship the journals of one run on this host, unless another shipper does."""
    lock = take_lock(folder)
    if lock is None:
        return 0
    if is_of_another_version(folder):
        log_line(f"{folder / STATE_NAME} is of another version of otel_trace, which has to go on with it")
        return 1
    sender = LazySender(log_line)
    Shipper(folder, sender, log_line).run()
    sender.close()
    os.close(lock)
    return 0


def take_lock(folder: Path, patience: float = _PATIENCE) -> int | None:
    """Take the lock of a folder, for as long as the descriptor is open; None when another shipper has it."""
    try:
        fd = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        return None
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > deadline:
                os.close(fd)
                return None
            time.sleep(0.02)
        else:
            return fd


def become_clean() -> None:
    """Take nothing from the job: not its signals, its cores, nor its priority."""
    for number in _LEFT_TO_US:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, max(_NICE, os.getpriority(os.PRIO_PROCESS, 0)))


def log_line(message: str) -> None:
    """Write a line to the log beside the journals (our standard error)."""
    with contextlib.suppress(OSError, ValueError):  # the disk is full
        sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {message}\n")
        sys.stderr.flush()


def main() -> int:
    """Run as a child: the folder is the last argument."""
    become_clean()
    return run(Path(sys.argv[-1]))


if __name__ == "__main__":
    sys.exit(main())
