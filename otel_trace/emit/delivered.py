"""Waiting for the shipper: until what this process wrote has been acknowledged, at a flush and at the exit."""

import time
from collections.abc import Callable
from pathlib import Path

from otel_trace._guard import tell_once
from otel_trace.cluster.process import this_process
from otel_trace.journal.bound import parse_name
from otel_trace.journal.delivery import Delivery, read_delivery

Position = tuple[int, int]

_LONGEST_EXIT, _BLIND_EXIT = 5.0, 0.4
_POLL = 0.02


def wait_at_exit(folder: Path) -> None:
    """Wait until the shipper has sent what this process wrote, while it makes progress; tell what stands in the way."""
    wanted = find_end(folder)
    begin = moved_at = time.monotonic()
    last: Delivery | None = None
    while wanted is not None and time.monotonic() - begin < _LONGEST_EXIT:
        delivery = read_delivery(folder)
        if delivery is not None and is_delivered(delivery, wanted):
            return
        if delivery != last:
            last, moved_at = delivery, time.monotonic()
        if time.monotonic() - moved_at > _BLIND_EXIT or (delivery is not None and delivery.message):
            break
        time.sleep(_POLL)
    if last is not None and last.message:
        tell_once("shipper/message", last.message)


def wait_until_delivered(folder: Path, wanted: Position, seconds: float, poke: Callable[[], None]) -> bool:
    """Wait until everything up to a position has been acknowledged; False when the time is over before."""
    deadline = time.monotonic() + seconds
    next_poke = 0.0
    while True:
        delivery = read_delivery(folder)
        if delivery is not None and is_delivered(delivery, wanted):
            return True
        now = time.monotonic()
        if now >= deadline:
            return False
        if now >= next_poke:
            poke()
            next_poke = now + 1.0
        time.sleep(_POLL)


def is_delivered(delivery: Delivery, wanted: Position) -> bool:
    """Say whether everything that this process wrote up to a position has been acknowledged."""
    key = str(this_process())
    return delivery.positions.get(key, (0, 0)) >= wanted or key in delivery.finished


def find_end(folder: Path) -> Position | None:
    """Give where the closed journal of this process ends; None when there is none."""
    key = this_process()
    try:
        paths = [path for path in folder.glob(f"{key}-*.seg") if parse_name(path.name)]
        newest = max(paths, default=None)
        return None if newest is None else (int(newest.stem.rsplit("-", 1)[1]), newest.stat().st_size)
    except OSError:
        return None
