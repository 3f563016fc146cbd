"""Shipping without a training process that starts it: what is left of one run, or all runs of a node for ever."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from otel_trace.cluster.process import ProcessKey, host_name, is_alive
from otel_trace.journal.delivery import Delivery, read_delivery
from otel_trace.ship.account import count_waiting
from otel_trace.ship.main import take_lock
from otel_trace.ship.outbox import Sender
from otel_trace.ship.shipper import POLL, Shipper

_LOOK = 1.0
_PATIENCE = 10.0
_ENDING = 3.0  # a shipper that has sent all is there for a moment longer


@dataclass(frozen=True)
class Shipment:
    """What came of sending what was left in the folder of a run on one host."""

    folder: Path
    is_busy: bool = False  # another shipper is at work there
    delivered: int = 0
    waiting: int = 0
    state: Delivery | None = None


def ship_rest(
    folder: Path, sender: Sender, tell: Callable[[str], None], patience: float = _PATIENCE
) -> Shipment:
    """Send what is left in the folder of a run on one host, for as long as the endpoint takes it."""
    lives = is_alive if folder.name == host_name() else _is_never_alive
    with _only_one(folder) as is_mine:
        if not is_mine:
            state = read_delivery(folder) or Delivery()
            return Shipment(folder, is_busy=True, waiting=count_waiting(folder, state, lives))
        shipper = Shipper(folder, sender, tell, is_alive=lives)
        before = shipper.delivery.delivered
        with contextlib.closing(shipper):
            _send_rest(shipper, patience)
    state = shipper.delivery
    return Shipment(
        folder,
        delivered=state.delivered - before,
        waiting=count_waiting(folder, state, lives),
        state=state,
    )


def _is_never_alive(_: ProcessKey) -> bool:
    """Take processes of another machine for ended: what they left is all there will be."""
    return False


def _send_rest(shipper: Shipper, patience: float) -> None:
    moved_at = time.monotonic()
    while time.monotonic() - moved_at < patience:
        if shipper.turn():
            moved_at = time.monotonic()
        elif not shipper.is_waiting or shipper.is_refused:
            return
        else:
            time.sleep(POLL)


class Service:
    """Ships all runs of this node below a root, those that are there and those that come."""

    def __init__(self, root: Path, sender: Sender, tell: Callable[[str], None]) -> None:
        self._root = root
        self._sender = sender
        self._tell = tell
        self._busy: dict[Path, tuple[Shipper, int]] = {}
        self._done: dict[Path, int] = {}  # folders of runs that are over, and when they had changed last
        self._look_at = 0.0

    def run(self) -> None:
        """Ship until somebody ends this process."""
        try:
            while True:
                if not self.turn():
                    time.sleep(POLL)
        finally:
            self.close()

    def turn(self) -> bool:
        """Look for runs, ship some of each; say whether anything moved."""
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + _LOOK
            self._look()
        has_moved = False
        for folder, (shipper, lock) in list(self._busy.items()):
            has_moved |= shipper.turn()
            if shipper.is_over():
                shipper.close()
                os.close(lock)
                del self._busy[folder]
                self._done[folder] = _read_change(folder)
        return has_moved

    def _look(self) -> None:
        """Take up the runs that have something new and that no other shipper has."""
        for folder in self._root.glob(f"*/{host_name()}"):
            if folder in self._busy or self._done.get(folder) == _read_change(folder):
                continue
            lock = take_lock(folder, patience=0)
            if lock is not None:
                self._busy[folder] = (Shipper(folder, self._sender, self._tell), lock)

    def close(self) -> None:
        """Write down what was reached, and let the runs go."""
        for shipper, lock in self._busy.values():
            shipper.close()
            os.close(lock)
        self._busy.clear()


@contextlib.contextmanager
def _only_one(folder: Path) -> Iterator[bool]:
    lock = take_lock(folder, _ENDING)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            os.close(lock)


def _read_change(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return -1
