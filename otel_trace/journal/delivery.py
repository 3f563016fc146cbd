"""How far the journals of a run on this node have been delivered: written by the shipper, read by whoever asks.

A position is the place in a process's segments up to which every ended span has been acknowledged. The file
is replaced as a whole after each answer, so that a shipper that comes after a killed one sends again at most
the one request that was under way.
"""

import json
import os
from dataclasses import asdict, dataclass, field
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
    message: str = ""
    delivered: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    markers: dict[str, list[str]] = field(default_factory=dict)
    positions: dict[str, tuple[int, int]] = field(default_factory=dict)
    finished: list[str] = field(default_factory=list)

    def drop(self, reason: str, number: int) -> None:
        """Count spans that were given up."""
        if number:
            self.dropped[reason] = self.dropped.get(reason, 0) + number


def read_delivery(folder: Path) -> Delivery | None:
    """Read the state in the folder of a run on this host; None when there is none that can be read."""
    try:
        data = json.loads((folder / STATE_NAME).read_bytes())
        return _read(data) if data.pop("format") == _FORMAT else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _read(data: dict[str, Any]) -> Delivery:
    delivery = Delivery(**data)
    delivery.positions = {key: (int(place[0]), int(place[1])) for key, place in delivery.positions.items()}
    return delivery


def write_delivery(folder: Path, delivery: Delivery) -> None:
    """Replace the state; it is there whole or as it was before."""
    partial = folder / f"{STATE_NAME}.{os.getpid()}"
    partial.write_text(json.dumps({"format": _FORMAT, **asdict(delivery)}))
    partial.replace(folder / STATE_NAME)
