"""A file of the journal that nobody writes any more: cut to its length, its end read, made durable."""

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from otel_trace.journal.format import FRAME, MAGIC, Kind, decode_payload, encode, pack_frame, unpack_payload
from otel_trace.journal.hold import take
from otel_trace.journal.ledger import merge_tallies
from otel_trace.journal.reader import Damage, read_bytes, scan_frames
from otel_trace.journal.segment import TAIL_BYTES

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(slots=True)
class Contents:
    """How many spans began in a segment, and what its process had lost by then."""

    starts: int = 0
    lost: Counter[str] = field(default_factory=Counter)


def read_contents(path: Path) -> Contents:
    """Give what a segment holds: its final tally knows, else it is counted; raises OSError."""
    return _read_final_tally(path) or _count(read_bytes(path)[0])[0]


def cut_to_length(path: Path) -> int:
    """Cut a segment whose process has died to what it holds; give the bytes that became free."""
    fd = os.open(path, os.O_RDWR | _NOFOLLOW)
    try:
        before = os.fstat(fd)
        if not before.st_size or before.st_size % TAIL_BYTES or not take(fd) or _read_final_tally(path):
            return 0
        data = os.pread(fd, before.st_size, 0)
        contents, used = _count(data)
        used += len(
            data[used : len(data) - TAIL_BYTES].rstrip(b"\0")
        )  # a torn record stays, to be counted as damage
        tally = pack_frame(encode([Kind.TALLY, dict(contents.lost), contents.starts]))
        os.pwrite(fd, tally, used)
        os.ftruncate(fd, used + len(tally))
        os.utime(fd, ns=(before.st_atime_ns, before.st_mtime_ns))
        return (before.st_blocks - os.fstat(fd).st_blocks) * 512
    finally:
        os.close(fd)


def _count(data: bytes) -> tuple[Contents, int]:
    """Give what the data of a segment hold, and where the last record other than a tally ends."""
    starts, used = 0, 0
    tallies: list[dict[str, Any]] = []
    for offset, payload in scan_frames(data, Damage()):
        record = decode_payload(payload) if payload[1] == Kind.TALLY else None
        if record is None:
            starts += payload[1] == Kind.START
            used = offset + FRAME.size + len(payload)
        elif len(record) > 1 and isinstance(record[1], dict):
            tallies.append(record[1])
    return Contents(starts, merge_tallies(tallies)), used


def _read_final_tally(path: Path) -> Contents | None:
    """Give what the tally at the very end of a closed segment says."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
        data = file.read(TAIL_BYTES)
    offset = data.rfind(MAGIC)
    while offset >= 0:
        payload = unpack_payload(data, offset)
        if payload is not None and offset + FRAME.size + len(payload) == len(data):
            return _read_tally(decode_payload(payload))
        offset = data.rfind(MAGIC, 0, offset)
    return None


def _read_tally(record: list[Any] | None) -> Contents | None:
    if record is None or len(record) < 3 or record[0] != Kind.TALLY or type(record[2]) is not int:
        return None
    return Contents(record[2], merge_tallies([record[1]] if isinstance(record[1], dict) else []))


def write_file(fd: int, data: bytes) -> None:
    """Write a whole file and close it."""
    with os.fdopen(fd, "wb") as file:
        file.write(data)


def sync_file(path: Path) -> None:
    """Wait until the disk has a file; one that was removed needs nothing."""
    try:
        fd = os.open(path, os.O_RDONLY | _NOFOLLOW)
    except FileNotFoundError:
        return
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
