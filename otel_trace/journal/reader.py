"""The intact records of a segment, whatever happened to the file.

A reader never maps the file (its writer may cut it to length) and never trusts a length. After a damaged
place it goes on at the next intact frame. Of a live segment it gives what is complete.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from otel_trace.journal.format import FORMAT, FRAME, MAGIC, Kind, decode_payload, unpack_payload

_MAX_FILE = 64 * 2**20


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


@dataclass(slots=True)
class SegmentData:
    """One segment as it was read: its header and the other records, in order."""

    path: Path
    header: dict[str, Any]
    records: list[list[Any]]


def read_bytes(path: Path) -> bytes:
    """Give the bytes of a regular file, bounded; raises OSError."""
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0))
    with os.fdopen(fd, "rb") as file:
        return file.read(_MAX_FILE)


def scan_payloads(data: bytes, damage: Damage) -> Iterator[bytes]:
    """Yield the payload of every intact frame; count what lies between them and is not zero."""
    offset = 0
    while offset < len(data):
        payload = unpack_payload(data, offset)
        if payload is not None:
            yield payload
            offset += FRAME.size + len(payload)
            continue
        begin, offset = offset, _find_frame(data, offset + 1)
        _count_gap(data, begin, offset, damage)


def _find_frame(data: bytes, offset: int) -> int:
    """Give the place of the next intact frame, the end of the data if there is none."""
    while True:
        offset = data.find(MAGIC, offset)
        if offset < 0:
            return len(data)
        if unpack_payload(data, offset) is not None:
            return offset
        offset += 1


def _count_gap(data: bytes, begin: int, end: int, damage: Damage) -> None:
    """Count a gap as damage, unless it is the unused part of a segment: zeros up to the tally or the end."""
    gap = data[begin:end].strip(b"\0")
    payload = unpack_payload(data, end)
    is_before_records = payload is not None and payload[1] != Kind.TALLY
    if gap or is_before_records:
        damage.records += 1
        damage.num_bytes += end - begin


def read_segment(path: Path, damage: Damage) -> SegmentData | None:
    """Read one segment; None (and counted) when it cannot be opened or has another format."""
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        damage.segments_refused.append(f"{path.name}: {error.strerror}")
        return None
    segment = SegmentData(path, {}, [])
    for payload in scan_payloads(data, damage):
        record = decode_payload(payload)
        if record is None:
            damage.records += 1
        elif record[0] != Kind.HEADER:
            segment.records.append(record)
        elif not segment.header and len(record) > 1 and isinstance(record[1], dict):
            segment.header = record[1]
    found = segment.header.get("format", FORMAT)
    if found != FORMAT:
        damage.segments_refused.append(f"{path.name}: format {found!r}; this version of otel_trace reads format {FORMAT}")
        return None
    return segment


def count_starts(path: Path) -> int:
    """Give the number of spans that began in a segment: its own tally, else by counting."""
    segment = read_segment(path, Damage())
    return sum(record[0] == Kind.START for record in segment.records) if segment else 0
