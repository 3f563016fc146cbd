"""What became of every span a process created: created = in the journal + gone once delivered + dropped, by reason.

The counts travel in tally frames: one in the reserved last page of a live segment, rewritten in place,
so that it is there also when the disk is full and nothing new can be opened.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from otel_trace.journal.format import Kind, encode, pack_frame

# Why a span is not in the journal.
REASONS = {
    "no_space": "no segment could be opened or written: disk full, quota, read-only, refused",
    "evicted": "the oldest segment made room within the size bound",
    "removed": "somebody removed the folder while the run was on",
    "damaged": "the file was damaged after it was written",
    "invalid": "the record could not be encoded or was too large",
}
# Before a reason: the span is in the journal, this part of it is not.
LOST_END, LOST_EVENT, LOST_LINK = "end_", "event_", "link_"
# No loss: the segment made room after the span had been delivered.
GONE_DELIVERED = "gone_delivered"


class Ledger:
    """The losses of one process, cumulative."""

    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()

    def count(self, reason: str, number: int = 1) -> None:
        """Count spans lost for a reason of the table, or parts of them with a prefix."""
        if number:
            self.lost[reason] += number

    def count_losses(self) -> int:
        """Give the number of all losses so far, of spans and of parts of them."""
        return self.lost.total() - self.lost[GONE_DELIVERED]

    def pack_tally(self, started: int | None) -> bytes:
        """Give the tally frame; `started` is the segment's number of spans, once it is final."""
        return pack_frame(encode([Kind.TALLY, dict(self.lost), started]))


def merge_tallies(tallies: Iterable[Mapping[Any, Any]]) -> Counter[str]:
    """Give the losses of one process from all its tallies; they are cumulative, so the highest counts."""
    merged: Counter[str] = Counter()
    for tally in tallies:
        for reason, number in tally.items():
            if isinstance(reason, str) and isinstance(number, int):
                merged[reason] = max(merged[reason], number)
    return merged


def count_dropped(lost: Mapping[str, int]) -> int:
    """Give how many spans are not in the journal at all."""
    return sum(number for reason, number in lost.items() if reason in REASONS)
