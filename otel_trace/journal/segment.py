"""One file of a journal while it is written: mapped into memory where that is safe, else appended to.

`write(frame)` is a single C call that reserves and copies, so no other thread, signal handler or fork can
come between. It raises ValueError when the segment is full or closed, OSError when the disk fails; in
either case the frame is not in the file and the caller goes on with another segment.
"""

import contextlib
import errno
import itertools
import mmap
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from otel_trace.journal.format import FRAME, MAGIC
from otel_trace.journal.hold import hold

TAIL_BYTES = mmap.ALLOCATIONGRANULARITY
_HALF_TAIL = TAIL_BYTES // 2
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def count_so_far(counter: "itertools.count[int]") -> int:
    """Give how often a counter was advanced."""
    return int(repr(counter)[len("count(") : -1])


class Segment(Protocol):
    """What a writer needs of a segment."""

    path: Path
    ids: dict[Any, list[int]]
    numbers: "itertools.count[int]"
    starts: "itertools.count[int]"
    write: Callable[[bytes], int]

    def write_tally(self, frame: bytes) -> None:
        """Keep the process's losses where a reader finds them."""

    def start_writeback(self) -> None:
        """Ask the system to begin writing to disk, without waiting."""

    def is_there(self) -> bool:
        """Say whether the file still has a name."""

    def count_bytes(self) -> int:
        """Give how much was written; raises ValueError or OSError when it is closed."""

    def flush(self) -> None:
        """Wait until the disk has everything."""

    def close(self, tally: bytes) -> None:
        """Cut the file to what was written and let it go."""

    def take_back(self) -> bytes:
        """Let the file go and give what was written."""

    def abandon(self) -> None:
        """Let go of the file, without touching it."""


def create_file(path: Path, mode: int) -> int:
    """Create a file that did not exist, and give its descriptor."""
    fd = os.open(path, _FLAGS, mode)
    if mode != 0o600:
        os.fchmod(fd, mode)
    return fd


class MappedSegment:
    """A segment in memory that the system writes out, also after the process is killed.

    Its blocks are really allocated: a store into a hole on a full disk would be a SIGBUS. For the same reason
    nobody may cut the file while it is mapped; `hold` tells every other process that it is.
    """

    def __init__(self, path: Path, mode: int, num_bytes: int) -> None:
        self.path = path
        self.ids: dict[Any, list[int]] = {}
        self.numbers = itertools.count(1)
        self.starts = itertools.count()
        self._tally_at = 0
        self._fd = create_file(path, mode)
        try:
            hold(self._fd)
            _allocate(self._fd, num_bytes)
            self._map = mmap.mmap(self._fd, num_bytes - TAIL_BYTES)
            self._tail = mmap.mmap(self._fd, TAIL_BYTES, offset=num_bytes - TAIL_BYTES)
        except BaseException:
            os.close(self._fd)
            path.unlink(missing_ok=True)
            raise
        self.write: Callable[[bytes], int] = self._map.write

    def write_tally(self, frame: bytes) -> None:
        """Keep it in the half of the tail that does not hold the one before, which a kill must not tear."""
        begin = self._tally_at
        self._tail[begin : begin + _HALF_TAIL] = frame.ljust(_HALF_TAIL, b"\0")
        self._tally_at = _HALF_TAIL - begin

    def start_writeback(self) -> None:
        """Ask the system to begin, where it can be asked."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def is_there(self) -> bool:
        """Say whether the file has a name, be it another one."""
        return os.fstat(self._fd).st_nlink > 0

    def count_bytes(self) -> int:
        """Give how much was written."""
        return self._map.tell()

    def flush(self) -> None:
        """Wait until the disk has everything."""
        os.fsync(self._fd)

    def close(self, tally: bytes) -> None:
        """Write the tally behind the last record and cut the file there."""
        used = self._seal()
        try:
            os.pwrite(self._fd, tally, used)
            os.ftruncate(self._fd, used + len(tally))
        finally:
            os.close(self._fd)

    def take_back(self) -> bytes:
        """Let the file go and give the frames in it."""
        used = self._seal()
        try:
            return os.pread(self._fd, used, 0)
        finally:
            os.close(self._fd)

    def abandon(self) -> None:
        """Unmap and close."""
        self._map.close()
        self._tail.close()
        os.close(self._fd)

    def _seal(self) -> int:
        """Let nothing more be written; give the length of what was."""
        used = self._map.tell()
        self._map.close()
        self._tail.close()
        return _pass_frames(self._fd, used)


def _pass_frames(fd: int, used: int) -> int:
    """Give where the frames end that another thread wrote between asking for the length and sealing."""
    while True:
        head = os.pread(fd, FRAME.size, used)
        if not head.startswith(MAGIC) or len(head) < FRAME.size:
            return used
        used += FRAME.size + FRAME.unpack(head)[1]


class AppendedSegment:
    """A segment on a file system where a mapping is not safe (network, FUSE): one write per frame.

    The lock only keeps a closing thread from handing the descriptor's number to another file under a
    writing one; a forked child never takes it.
    """

    def __init__(self, path: Path, mode: int, num_bytes: int) -> None:
        self.path = path
        self.ids: dict[Any, list[int]] = {}
        self.numbers = itertools.count(1)
        self.starts = itertools.count()
        self._room = num_bytes
        self._lock = threading.RLock()
        self._fd = create_file(path, mode)
        self.write: Callable[[bytes], int] = self._append

    def _append(self, frame: bytes) -> int:
        with self._lock:
            if self._fd < 0 or len(frame) > self._room:
                raise ValueError("the segment is full or closed")
            written = os.write(self._fd, frame)
            self._room -= written
        if written != len(frame):
            raise OSError(errno.ENOSPC, "only a part of the record was written", str(self.path))
        return written

    def write_tally(self, frame: bytes) -> None:
        """Append it, if there is room."""
        with contextlib.suppress(ValueError):
            self._append(frame)

    def start_writeback(self) -> None:
        """Leave it to the file system: asking would be waiting."""

    def is_there(self) -> bool:
        """Say whether the path leads to a file; a network file system keeps nameless ones under another name."""
        return self.path.exists()

    def count_bytes(self) -> int:
        """Give how much was written."""
        return os.fstat(self._fd).st_size

    def flush(self) -> None:
        """Wait until the disk has everything."""
        os.fsync(self._fd)

    def close(self, tally: bytes) -> None:
        """Append the tally, also beyond the room."""
        with self._lock:
            try:
                os.write(self._fd, tally)
            finally:
                self.abandon()

    def take_back(self) -> bytes:
        """Let the file go and give the frames in it."""
        with self._lock:
            try:
                return os.pread(self._fd, os.fstat(self._fd).st_size, 0)
            finally:
                self.abandon()

    def abandon(self) -> None:
        """Close, so that a later record finds it closed."""
        fd, self._fd = self._fd, -1
        os.close(fd)


def _allocate(fd: int, num_bytes: int) -> None:
    """Allocate every block of the file, or raise OSError."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, num_bytes)
        return
    zeros = bytes(1 << 16)
    for offset in range(0, num_bytes, len(zeros)):
        os.pwrite(fd, zeros[: num_bytes - offset], offset)
