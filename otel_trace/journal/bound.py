"""The journal of a node stays within its bound: the oldest closed segments make room for new ones."""

import os
from collections.abc import Mapping
from pathlib import Path

from otel_trace.cluster.process import ProcessKey, is_alive
from otel_trace.journal.format import SUFFIX
from otel_trace.journal.place import Place
from otel_trace.journal.reader import count_starts


def parse_name(name: str) -> tuple[ProcessKey, int] | None:
    """Give whose segment a file is and its number, None if it is no segment."""
    parts = name.removesuffix(SUFFIX).split("-")
    if not name.endswith(SUFFIX) or len(parts) != 3 or not all(part.isdecimal() for part in parts):
        return None
    return ProcessKey(int(parts[0]), int(parts[1])), int(parts[2])


def make_room(place: Place, current: str, own: Mapping[str, int]) -> int:
    """Delete the oldest closed segments until one more fits; give the number of spans that went with them."""
    entries = _list_segments(place.folder)
    total = sum(num_bytes for _, _, num_bytes in entries)
    if total + place.segment_bytes <= place.max_bytes:
        return 0
    evicted = 0
    for path in _closed_oldest_first(entries, current):
        evicted += own[path.name] if path.name in own else count_starts(path)
        total -= _size(path)
        path.unlink(missing_ok=True)
        if total + place.segment_bytes <= place.max_bytes:
            break
    return evicted


def _list_segments(folder: Path) -> list[tuple[int, Path, int]]:
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if parse_name(entry.name):
                state = entry.stat(follow_symlinks=False)
                found.append((state.st_mtime_ns, Path(entry.path), state.st_blocks * 512))
    return sorted(found)


def _closed_oldest_first(entries: list[tuple[int, Path, int]], current: str) -> list[Path]:
    """Give the segments that nobody writes: not the newest of a process that lives."""
    newest: dict[ProcessKey, int] = {}
    for _, path, _ in entries:
        key, number = parse_name(path.name) or (ProcessKey(0, 0), 0)
        newest[key] = max(newest.get(key, 0), number)
    busy = {f"{key}-{number:06d}{SUFFIX}" for key, number in newest.items() if is_alive(key)}
    return [path for _, path, _ in entries if path.name not in busy and path.name != current]


def _size(path: Path) -> int:
    try:
        return path.lstat().st_blocks * 512
    except OSError:
        return 0
