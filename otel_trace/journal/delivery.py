"""How far the journals of a run on this node have been delivered: written by the shipper, read by whoever asks.

A position is the place in a process's segments up to which every ended span has been acknowledged. The file
is replaced as a whole after each answer, so that a shipper that comes after a killed one sends again at most
the one request that was under way.
"""

import contextlib
import json
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

STATE_NAME = "shipper.json"
LOCK_NAME = "shipper.lock"
_FORMAT = 1


@dataclass(slots=True)
class Delivery:
    """What has been delivered, and what stands in the way."""

    endpoint: str = ""
    is_reached: bool = False
    message: str = ""  # what stands in the way now
    notice: str = ""  # why spans were given up, the last time
    delivered: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    oversized: int = 0  # spans sent into a trace that is larger than Tempo keeps
    markers: dict[str, list[str]] = field(default_factory=dict)
    positions: dict[str, tuple[int, int]] = field(default_factory=dict)
    # Segments before `cleared` are done with, but for those with starts of open spans: so many, by segment.
    cleared: dict[str, int] = field(default_factory=dict)
    open_in: dict[str, dict[int, int]] = field(default_factory=dict)
    finished: list[str] = field(default_factory=list)

    def drop(self, reason: str, number: int) -> None:
        """Count spans that were given up."""
        if number:
            self.dropped[reason] = self.dropped.get(reason, 0) + number

    def keep_only(self, keys: set[str]) -> None:
        """Forget the processes of which nothing is left in the journal."""
        for known in (self.markers, self.positions, self.cleared, self.open_in):
            for key in [key for key in known if key not in keys]:
                del known[key]
        self.finished = [key for key in self.finished if key in keys]

    def is_done_with(self, key: str, segment: int) -> bool:
        """Say whether a shipper that starts anew need not read a segment."""
        return segment < self.cleared.get(key, 0) and segment not in self.open_in.get(key, {})

    def count_undelivered(self, key: str, segment: int) -> int | None:
        """Give how many spans of a segment have not been delivered; None where that is not known."""
        if segment >= self.cleared.get(key, 0):
            return None
        return self.open_in.get(key, {}).get(segment, 0)


def read_delivery(folder: Path) -> Delivery | None:
    """Read the state in the folder of a run on this host; None when there is none that can be read."""
    try:
        data = json.loads((folder / STATE_NAME).read_bytes())
        return _read(data) if data.pop("format") == _FORMAT else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None


def is_of_another_version(folder: Path) -> bool:
    """Say whether a version of the shipper has been here whose state this one does not know."""
    try:
        found = json.loads((folder / STATE_NAME).read_bytes())
        return bool(found["format"] != _FORMAT)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _read(data: dict[str, Any]) -> Delivery:
    known = {one.name for one in fields(Delivery)}
    delivery = Delivery(**{name: value for name, value in data.items() if name in known})
    delivery.positions = {key: (int(place[0]), int(place[1])) for key, place in delivery.positions.items()}
    delivery.open_in = {
        key: {int(segment): int(number) for segment, number in found.items()}
        for key, found in delivery.open_in.items()
    }
    return delivery


def write_delivery(folder: Path, delivery: Delivery) -> bool:
    """Replace the state: it is there whole or as it was before; False when the disk does not take it."""
    partial = folder / f"{STATE_NAME}.{os.getpid()}"
    try:
        fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(fd, "w") as file:
            json.dump({"format": _FORMAT, **asdict(delivery)}, file)
        partial.replace(folder / STATE_NAME)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink()
        return False
    return True
