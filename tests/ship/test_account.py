from collections import Counter

import pytest

from otel_trace.ship.account import Account, make_account
from otel_trace.ship.answer import Answer, Outcome
from tests.journal.factories import write_spans
from tests.ship.factories import DELIVERED, MALFORMED, UNREACHED, TellingSender
from tests.ship.journals import Run, turn


def account(run: Run) -> Account:
    """Return the ledger of a run, which must be closed."""
    found = make_account(run.folder, is_alive=lambda _: run.is_producing)
    assert found.is_balanced, found
    return found


def test_before_anything_was_sent_all_is_waiting(run: Run) -> None:
    """Ended or open, what no shipper has seen waits in the journal."""
    write_spans(run.writer, 5)
    write_spans(run.writer, 2, first=6, is_ended=False)
    assert Account(created=7, delivered=0, waiting=7) == account(run)


def test_delivered_and_open_spans_add_up(run: Run) -> None:
    """What was acknowledged is delivered, what is open waits; a marker counts as neither."""
    write_spans(run.writer, 5)
    write_spans(run.writer, 2, first=6, is_ended=False)
    turn(run.make_shipper(TellingSender()))
    assert Account(created=7, delivered=5, waiting=2) == account(run)


def test_interrupted_spans_are_delivered_too(run: Run) -> None:
    """A dead process leaves nothing waiting."""
    write_spans(run.writer, 5)
    write_spans(run.writer, 2, first=6, is_ended=False)
    run.die()
    turn(run.make_shipper(TellingSender()))
    assert Account(created=7, delivered=7, waiting=0) == account(run)


@pytest.mark.parametrize("requests", [0, 1, 3])
def test_endpoint_that_goes_away_leaves_the_rest_waiting(run: Run, requests: int) -> None:
    """Wherever it stops, each span is delivered or waits."""
    write_spans(run.writer, 3000)
    turn(run.make_shipper(sender := TellingSender([DELIVERED] * requests + [UNREACHED] * 99)))
    delivered = len(sender.delivered)
    assert Account(created=3000, delivered=delivered, waiting=3000 - delivered) == account(run)
    assert (requests > 0) == (delivered > 0)


def test_given_up_spans_are_dropped_by_reason(run: Run) -> None:
    """What the backend rejects and what it does not take for good has its reason."""
    write_spans(run.writer, 10)

    def answer(numbers: list[int]) -> Answer:
        if 4 in numbers:
            return MALFORMED
        return Answer(Outcome.DELIVERED, rejected=1 if 9 in numbers else 0)

    turn(run.make_shipper(TellingSender(answer)))
    assert Account(created=10, delivered=8, waiting=0, dropped=Counter(refused=1, rejected=1)) == account(run)


def test_losses_of_the_journal_are_dropped_too(run: Run) -> None:
    """What never came into the journal is in the same account."""
    write_spans(run.writer, 3)
    run.writer.ledger.count("no_space", 2)
    run.end()
    turn(run.make_shipper(TellingSender()))
    assert Account(created=5, delivered=3, waiting=0, dropped=Counter(no_space=2)) == account(run)


def test_delivered_segments_that_are_gone_stay_delivered(run: Run) -> None:
    """What was evicted after it had been delivered is no loss."""
    from otel_trace.journal.bound import make_room
    from tests.journal.factories import KIB, make_place

    write_spans(run.writer, 4000)
    turn(run.make_shipper(TellingSender()))
    run.writer.ledger.lost += make_room(make_place(run.folder, max_bytes=128 * KIB), "", {})
    run.end()
    assert Account(created=4000, delivered=4000, waiting=0) == account(run)
    assert 4000 > sum(1 for _ in run.folder.glob("*.seg")) > 0
