"""The journal of a node stays within its bound: closed segments make room for new ones, delivered ones first.

Segments of processes that died without closing them are cut to their length first. What a live process
writes is never touched, so the bound is exceeded while live processes alone need more, and by a segment
each when several open one at the same moment. The first segment of a live process, where the spans began that
last as long as it does, goes after all others. Any other span that is still open when the segment of its
start is evicted is counted with the rest, and its end is an orphan.
"""

import contextlib
import os
import stat
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from otel_trace.cluster.process import ProcessKey, is_alive
from otel_trace.journal.delivery import Delivery, read_delivery
from otel_trace.journal.format import SUFFIX
from otel_trace.journal.ledger import GONE_DELIVERED
from otel_trace.journal.place import Place
from otel_trace.journal.trim import cut_to_length, read_contents


def parse_name(name: str) -> tuple[ProcessKey, int] | None:
    """Give whose segment a file is and its number, None if it is no segment."""
    parts = name.removesuffix(SUFFIX).split("-")
    if (
        not name.endswith(SUFFIX)
        or len(parts) != 3
        or not all(part.isascii() and part.isdecimal() for part in parts)
    ):
        return None
    return ProcessKey(int(parts[0]), int(parts[1])), int(parts[2])


@dataclass(frozen=True, slots=True, order=True)
class _Entry:
    """One segment in the folder."""

    time_ns: int
    path: Path
    num_bytes: int
    key: ProcessKey
    number: int


def make_room(place: Place, current: str, own: Mapping[str, int]) -> Counter[str]:
    """Cut and delete old segments until one more fits; give what was lost with them, by reason."""
    entries = _list_segments(place.folder)
    excess = sum(entry.num_bytes for entry in entries) + place.segment_bytes - place.max_bytes
    lost: Counter[str] = Counter()
    if excess <= 0:
        return lost
    alive = {key for key in {entry.key for entry in entries} if is_alive(key)}
    for entry in entries:
        if excess > 0 and entry.key not in alive:
            with contextlib.suppress(OSError):
                excess -= cut_to_length(entry.path)
    if excess <= 0:
        return lost
    delivery = read_delivery(place.folder) or Delivery()
    for entry in _find_closed(entries, alive, current, delivery):
        if excess <= 0:
            break
        is_last = entry.key not in alive and entry.number == _newest(entries)[entry.key]
        excess -= _size(entry.path)
        undelivered = delivery.count_undelivered(str(entry.key), entry.number)
        lost += _evict(entry.path, own.get(entry.path.name), undelivered, is_last=is_last)
    return lost


def _list_segments(folder: Path) -> list[_Entry]:
    """Give the segments, oldest first."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            parsed = parse_name(entry.name)
            with contextlib.suppress(FileNotFoundError):  # another process has just evicted it
                state = entry.stat(follow_symlinks=False)
                if parsed and stat.S_ISREG(state.st_mode):
                    found.append(_Entry(state.st_mtime_ns, Path(entry.path), state.st_blocks * 512, *parsed))
    return sorted(found, key=lambda entry: (entry.time_ns, entry.path))


def _find_closed(
    entries: list[_Entry], alive: set[ProcessKey], current: str, delivery: Delivery
) -> list[_Entry]:
    """Give the segments that nobody writes, in the order in which they go: delivered, old, first of a live process."""
    newest = _newest(entries)
    closed = [
        entry
        for entry in entries
        if entry.path.name != current and not (entry.key in alive and entry.number == newest[entry.key])
    ]

    def rank(entry: _Entry) -> int:
        if delivery.count_undelivered(str(entry.key), entry.number) == 0:
            return 0
        return 2 if entry.number == 1 and entry.key in alive else 1

    return sorted(closed, key=rank)


def _newest(entries: list[_Entry]) -> dict[ProcessKey, int]:
    """Give the number of each process's newest segment."""
    return {entry.key: entry.number for entry in sorted(entries, key=lambda entry: entry.number)}


def _evict(path: Path, starts: int | None, undelivered: int | None, *, is_last: bool) -> Counter[str]:
    """Delete a segment and give what to count; nothing when another process was faster.

    With the last segment of a dead process goes the tally of what that one had lost: it is taken over.
    """
    lost: Counter[str] = Counter()
    try:
        contents = read_contents(path) if starts is None or is_last else None
        path.unlink()
    except FileNotFoundError:
        return lost
    number = starts if starts is not None else contents.starts if contents else 0
    lost["evicted"] = number if undelivered is None else min(undelivered, number)
    lost[GONE_DELIVERED] = number - lost["evicted"]
    return lost + contents.lost if contents and is_last else lost


def _size(path: Path) -> int:
    try:
        return path.lstat().st_blocks * 512
    except OSError:
        return 0
