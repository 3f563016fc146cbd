"""A run's journal in a folder, and a shipper over it whose backend, clock of life and words a test holds."""

from pathlib import Path

from otel_trace.cluster.process import ProcessKey
from otel_trace.journal.delivery import Delivery, read_delivery
from otel_trace.ship.follow import Follower
from otel_trace.ship.shipper import Shipper
from tests.journal.factories import KIB, make_writer
from tests.ship.factories import TellingSender


class Run:
    """One process that writes, and what a shipper makes of it."""

    def __init__(self, folder: Path, *, segment_bytes: int = 64 * KIB, is_mapped: bool = True) -> None:
        self.folder = folder
        self.writer = make_writer(folder, segment_bytes=segment_bytes, is_mapped=is_mapped)
        self.is_producing = True
        self.told: list[str] = []
        self.shippers: list[Shipper] = []

    @property
    def key(self) -> ProcessKey:
        """The process that writes."""
        return self.writer._key

    @property
    def delivery(self) -> Delivery:
        """What the shipper has written down."""
        found = read_delivery(self.folder)
        assert found is not None
        return found

    def make_shipper(self, sender: TellingSender) -> Shipper:
        """Return a shipper, as one that was just started."""
        self.shippers.append(
            Shipper(self.folder, sender, self.told.append, is_alive=lambda _: self.is_producing)
        )
        return self.shippers[-1]

    def follow(self, delivery: Delivery | None = None) -> Follower:
        """Return a follower of the process."""
        return Follower(self.folder, self.key, delivery or Delivery())

    def end(self) -> None:
        """End the process as it should."""
        self.writer.close()
        self.is_producing = False

    def die(self) -> None:
        """End the process as a kill does."""
        self.writer.after_fork()
        self.is_producing = False

    def clean(self) -> None:
        """Close all files."""
        for shipper in self.shippers:
            shipper.close()
        self.writer.close()


def turn(shipper: Shipper, times: int = 10) -> None:
    """Let a shipper do what it can without waiting."""
    for _ in range(times):
        shipper.turn()
