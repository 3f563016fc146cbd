from __future__ import annotations

from collections import Counter

from otel_trace.journal.format import FRAME, Kind, decode_payload
from otel_trace.journal.ledger import REASONS, Ledger, count_dropped, merge_tallies


def test_tally_says_what_was_lost() -> None:
    """The tally frame carries the losses so far and the number of spans of the segment."""
    ledger = Ledger()
    ledger.count("no_space", 2)
    ledger.count("no_space")
    assert decode_payload(ledger.pack_tally(5)[FRAME.size :]) == [Kind.TALLY, {"no_space": 3}, 5]


def test_highest_of_cumulative_tallies_counts() -> None:
    """Tallies of one process grow, so that each reason counts once, at its highest."""
    tallies = [{"evicted": 1}, {"evicted": 4, "no_space": 2}, {"evicted": 3}]
    assert merge_tallies(tallies) == Counter(evicted=4, no_space=2)


def test_tally_of_nonsense_is_passed_over() -> None:
    """A damaged tally gives what is a reason with a number."""
    assert merge_tallies([{3: 1, "evicted": "many", "removed": 2}]) == Counter(removed=2)


def test_parts_of_spans_are_no_dropped_spans() -> None:
    """A lost end or event leaves its span in the journal."""
    assert (
        count_dropped({"no_space": 2, "evicted": 3, "end_no_space": 7, "event_invalid": 1, "journal": 9}) == 5
    )


def test_every_reason_is_explained() -> None:
    """Each reason has its sentence for those who look at the ledger."""
    assert {"no_space", "evicted", "removed", "damaged", "invalid"} == set(REASONS)
