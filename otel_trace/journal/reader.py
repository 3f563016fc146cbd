"""The intact records of a segment, whatever happened to the file.

A reader never maps the file (its writer may cut it to length) and never trusts a length. After a damaged
place it goes on at the next intact frame. Of a live segment it gives what is complete.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from otel_trace.journal.format import (
    FORMATS,
    FRAME,
    FRAME_BEGIN,
    MAX_PAYLOAD,
    Kind,
    decode_payload,
    unpack_payload,
)

_MAX_FILE = 64 * 2**20
# How often over the bytes of a file are checksummed in search of intact frames; only a file made to waste
# time needs more.
_MAX_SEARCHES = 16
_MAX_LIVE_READS = 5


@dataclass(slots=True)
class Damage:
    """What could not be read."""

    records: int = 0
    num_bytes: int = 0
    segments_refused: list[str] = field(default_factory=list)
    missing_definitions: int = 0
    orphans: int = 0

    def __bool__(self) -> bool:
        return bool(self.records or self.segments_refused or self.missing_definitions)

    def add(self, records: int, num_bytes: int) -> None:
        """Count damaged places and their bytes."""
        self.records += records
        self.num_bytes += num_bytes


@dataclass(slots=True)
class SegmentData:
    """One segment as it was read: its header and the other records, in order."""

    path: Path
    header: dict[str, Any]
    records: list[list[Any]]


def read_bytes(path: Path) -> tuple[bytes, int]:
    """Give the bytes of a regular file, bounded, and how many there are beyond; raises OSError."""
    flags = (
        os.O_RDONLY
        | getattr(os, "O_NOFOLLOW", 0)
        | getattr(os, "O_CLOEXEC", 0)
        | getattr(os, "O_NONBLOCK", 0)
    )
    fd = os.open(path, flags)
    try:
        state = os.fstat(fd)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(0, "not a regular file", str(path))
        with os.fdopen(fd, "rb", closefd=False) as file:
            return file.read(min(state.st_size, _MAX_FILE)), max(0, state.st_size - _MAX_FILE)
    finally:
        os.close(fd)


def scan_frames(data: bytes, damage: Damage, *, is_live: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield place and payload of every intact frame; count what lies between them and is not zero."""
    return _Scan(data, damage, is_live=is_live).run()


class _Scan:
    """One pass over the data of a segment."""

    def __init__(self, data: bytes, damage: Damage, *, is_live: bool) -> None:
        self._data = data
        self._damage = damage
        self._is_live = is_live
        self._patience = _MAX_SEARCHES * len(data) + MAX_PAYLOAD

    def run(self) -> Iterator[tuple[int, bytes]]:
        data, offset = self._data, 0
        while offset < len(data):
            payload = unpack_payload(data, offset)
            if payload is not None:
                yield offset, payload
                offset += FRAME.size + len(payload)
                continue
            begin, offset = offset, self._find_frame(offset + 1)
            self._count_gap(begin, offset)

    def _find_frame(self, offset: int) -> int:
        """Give the place of the next intact frame, the end of the data if there is none."""
        data = self._data
        while self._patience > 0:
            found = FRAME_BEGIN.search(data, offset)
            if found is None:
                break
            offset = found.start()
            if unpack_payload(data, offset) is not None:
                return offset
            self._patience -= FRAME.size + self._price(FRAME.unpack_from(data, offset)[1], offset)
            offset += 1
        return len(data)

    def _price(self, length: int, offset: int) -> int:
        """Give how many bytes were checksummed for a frame of that length: none where it cannot be."""
        can_be = length <= min(MAX_PAYLOAD, len(self._data) - offset - FRAME.size)
        return length if can_be else 0

    def _count_gap(self, begin: int, end: int) -> None:
        """Count a gap as damage, unless it is the unused part of a segment: zeros up to the tally or the end.

        In a live segment what stands there is the record that is being written.
        """
        payload = unpack_payload(self._data, end)
        if payload is not None and payload[1] != Kind.TALLY:
            self._damage.add(1, end - begin)
        elif not self._is_live and (torn := self._data[begin:end].strip(b"\0")):
            self._damage.add(1, len(torn))


def read_segment(path: Path, damage: Damage, *, is_live: bool = False) -> SegmentData | None:
    """Read one segment; None (and counted) when it cannot be opened or has another format."""
    try:
        segment, found = _read_whole(path, is_live=is_live)
    except FileNotFoundError:
        return None
    except OSError as error:
        damage.segments_refused.append(f"{path.name}: {error.strerror}")
        return None
    damage.add(found.records, found.num_bytes)
    version = segment.header.get("format", FORMATS[0])
    if version not in FORMATS:
        reads = " and ".join(str(known) for known in FORMATS)
        damage.segments_refused.append(
            f"{path.name}: format {version!r:.40}; this version of otel_trace reads format {reads}"
        )
        return None
    return segment


def _read_whole(path: Path, *, is_live: bool) -> tuple[SegmentData, Damage]:
    """Read a segment; again when a gap may only be records that were written while it was being read."""
    num_reads = 1
    segment, damage = _read_once(path, is_live=is_live)
    while is_live and damage.records and num_reads < _MAX_LIVE_READS:
        segment, damage = _read_once(path, is_live=is_live)
        num_reads += 1
    return segment, damage


def _read_once(path: Path, *, is_live: bool) -> tuple[SegmentData, Damage]:
    damage = Damage()
    data, beyond = read_bytes(path)
    if beyond:
        damage.add(1, beyond)
    segment = SegmentData(path, {}, [])
    keep = segment.records.append
    for _, payload in scan_frames(data, damage, is_live=is_live):
        record = decode_payload(payload)
        if record is None:
            damage.add(1, len(payload))
        elif record[0] != Kind.HEADER:
            keep(record)
        elif not segment.header and len(record) > 1 and isinstance(record[1], dict):
            segment.header = record[1]
    return segment, damage
