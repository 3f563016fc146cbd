"""What became of every span of a run on this node: created = delivered + waiting in the journal + dropped, by reason."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from otel_trace.cluster.process import ProcessKey, is_alive
from otel_trace.journal.delivery import Delivery, read_delivery
from otel_trace.journal.ledger import REASONS
from otel_trace.journal.spans import read_run
from otel_trace.ship.follow import Follower
from otel_trace.ship.listing import Listing


@dataclass(frozen=True)
class Account:
    """The ledger of a run on one host, closed."""

    created: int
    delivered: int
    waiting: int
    dropped: Counter[str] = field(default_factory=Counter)

    @property
    def is_balanced(self) -> bool:
        """Say whether every span is accounted for, once."""
        return self.created == self.delivered + self.waiting + self.dropped.total()


def make_account(folder: Path, is_alive: Callable[[ProcessKey], bool] = is_alive) -> Account:
    """Add up what journal and shipper say of the folder of a run on one host."""
    ledger = read_run(folder).ledger
    delivery = read_delivery(folder) or Delivery()
    dropped = Counter({reason: ledger[reason] for reason in REASONS if ledger[reason]})
    return Account(
        created=ledger["created"],
        delivered=delivery.delivered,
        waiting=count_waiting(folder, delivery, is_alive),
        dropped=dropped + Counter(delivery.dropped),
    )


def count_waiting(folder: Path, delivery: Delivery, is_alive: Callable[[ProcessKey], bool] = is_alive) -> int:
    """Count the spans in the journal that have not been acknowledged, those that are open included."""
    keys = [key for key in Listing(folder).read() if str(key) not in delivery.finished]
    return sum(_count_of_process(Follower(folder, key, delivery), is_over=not is_alive(key)) for key in keys)


def _count_of_process(follower: Follower, *, is_over: bool) -> int:
    number = 0
    while not follower.is_idle:
        number += len(follower.read(is_over=is_over))
    number += len(follower.list_interrupted())
    follower.close()
    return number
