from collections.abc import Callable
from typing import Any

import pytest

from otel_trace.journal.delivery import Delivery
from otel_trace.ship.answer import Answer, Outcome
from otel_trace.ship.encode import EncodedSpan, encode_span
from otel_trace.ship.outbox import MAX_BYTES, Outbox, take_request
from tests.ship.factories import (
    DELIVERED,
    MALFORMED,
    REFUSED,
    TOO_LARGE,
    UNREACHED,
    TellingSender,
    make_encoded,
    make_span,
)


def make_batch(number: int) -> list[EncodedSpan]:
    """Return spans numbered from 1."""
    return [make_encoded(span) for span in range(1, number + 1)]


def ship(
    answer: Callable[[list[int]], Answer], number: int = 8
) -> tuple[int, Answer, TellingSender, Delivery, list[str]]:
    """Send spans once to an endpoint; return how many are settled, and all that came of it."""
    sender, delivery, told = TellingSender(answer), Delivery(), list[str]()
    settled, last = Outbox(sender, delivery, told.append).send(make_batch(number))
    return settled, last, sender, delivery, told


def test_acknowledged_spans_are_settled() -> None:
    """What is acknowledged is counted and done with, in one request, without a word."""
    settled, answer, sender, delivery, told = ship(lambda _: DELIVERED)
    assert (8, Outcome.DELIVERED, [list(range(1, 9))]) == (settled, answer.outcome, sender.asked)
    assert (8, {}, True, "", []) == (
        delivery.delivered,
        delivery.dropped,
        delivery.is_reached,
        delivery.message,
        told,
    )


@pytest.mark.parametrize("answer", [UNREACHED, REFUSED, Answer(Outcome.RETRY, "503")])
def test_endpoint_that_does_not_take_anything_settles_nothing(answer: Answer) -> None:
    """While the endpoint as a whole refuses or is away, every span stays, and nothing is counted."""
    settled, last, sender, delivery, told = ship(lambda _: answer)
    assert (0, answer, 1) == (settled, last, len(sender.asked))
    assert (0, {}, answer.is_reached) == (delivery.delivered, delivery.dropped, delivery.is_reached)
    assert [delivery.message] == told
    assert "stay in the journal" in delivery.message


def test_message_is_told_once_and_taken_back() -> None:
    """The same obstacle is logged once; when it is gone, so is the message."""
    sender, delivery, told = TellingSender([REFUSED, REFUSED, DELIVERED]), Delivery(), list[str]()
    outbox = Outbox(sender, delivery, told.append)
    outbox.send(make_batch(1))
    outbox.send(make_batch(1))
    assert [
        "http://backend/v1/traces does not take our spans: 403: forbidden; they stay in the journal"
    ] == told
    outbox.send(make_batch(1))
    assert "" == delivery.message


def test_too_large_is_halved_until_it_fits() -> None:
    """A request that is too large goes in parts, in order, and every span arrives."""
    settled, answer, sender, delivery, _ = ship(lambda ids: TOO_LARGE if len(ids) > 2 else DELIVERED)
    assert (8, Outcome.DELIVERED) == (settled, answer.outcome)
    assert list(range(1, 9)) == sender.delivered
    assert (8, {}) == (delivery.delivered, delivery.dropped)


@pytest.mark.parametrize(("answer", "reason"), [(MALFORMED, "refused"), (TOO_LARGE, "too_large")])
@pytest.mark.parametrize("poison", [1, 5, 8])
def test_poison_span_is_found_and_the_others_arrive(answer: Answer, reason: str, poison: int) -> None:
    """One span that the endpoint does not take is given up, counted and told; all others arrive once."""
    settled, last, sender, delivery, told = ship(lambda ids: answer if poison in ids else DELIVERED)
    assert (8, Outcome.DELIVERED) == (settled, last.outcome)
    assert [number for number in range(1, 9) if number != poison] == sender.delivered
    assert (7, {reason: 1}) == (delivery.delivered, delivery.dropped)
    assert [f"does not take span {poison:016x}"] == [
        words for words in [f"does not take span {poison:016x}"] if words in told[0]
    ]
    assert told[0] == delivery.notice


@pytest.mark.parametrize("answer", [MALFORMED, TOO_LARGE])
def test_endpoint_that_calls_everything_malformed_gets_nothing_dropped(answer: Answer) -> None:
    """When not even an empty request is taken, it is the endpoint: nothing is given up, and few requests made."""
    settled, last, sender, delivery, _ = ship(lambda _: answer, 512)
    assert (0, answer.outcome) == (settled, last.outcome)
    assert (0, {}) == (delivery.delivered, delivery.dropped)
    assert 11 == len(sender.asked)


def test_lone_poison_span_is_proved_by_an_empty_request() -> None:
    """A span alone in its request is given up only because an empty request is taken."""
    settled, _, sender, delivery, _ = ship(lambda ids: MALFORMED if ids else DELIVERED, 1)
    assert (1, [[1], []], {"refused": 1}) == (settled, sender.asked, delivery.dropped)


def test_endpoint_that_fails_between_the_halves() -> None:
    """What was acknowledged before the endpoint went away is settled: it is not sent again."""
    answers = iter([TOO_LARGE, DELIVERED, UNREACHED])
    settled, answer, sender, delivery, _ = ship(lambda _: next(answers))
    assert (4, UNREACHED) == (settled, answer)
    assert ([1, 2, 3, 4], 4) == (sender.delivered, delivery.delivered)


@pytest.mark.parametrize(("rejected", "delivered"), [(3, 5), (8, 0), (99, 0)])
def test_partial_success_is_counted(rejected: int, delivered: int) -> None:
    """What a success does not take is dropped and counted, with the backend's reason."""
    answer = Answer(Outcome.DELIVERED, "3 spans rejected (too old)", rejected=rejected)
    settled, _, _, delivery, told = ship(lambda _: answer)
    assert (8, delivered, {"rejected": 8 - delivered}) == (settled, delivery.delivered, delivery.dropped)
    assert ["http://backend/v1/traces: 3 spans rejected (too old)"] == told == [delivery.notice]


def test_markers_are_not_counted_as_spans() -> None:
    """What only shows an open span is neither delivered nor dropped."""
    delivery = Delivery()
    markers = [encode_span(make_span(number), is_marker=True) for number in (1, 2)]
    outbox = Outbox(TellingSender(lambda ids: MALFORMED if 2 in ids else DELIVERED), delivery, lambda _: None)
    assert 3 == outbox.send([make_encoded(3), *markers])[0]
    assert (1, {}) == (delivery.delivered, delivery.dropped)


def make_large(number: int, num_bytes: int) -> EncodedSpan:
    """Return an encoded span of about so many bytes."""
    facts: dict[str, Any] = {f"x{index}": "y" * 2000 for index in range(num_bytes // 2000)}
    return make_encoded(number, attributes=facts)


def test_request_has_at_most_512_spans() -> None:
    """Many small spans are several requests."""
    assert 512 == take_request(make_batch(600))
    assert 3 == take_request(make_batch(3))
    assert 0 == take_request([])


def test_request_is_smaller_than_what_grpc_takes() -> None:
    """Large spans are several requests, each below 4 MiB; a giant goes alone."""
    batch = [make_large(number, 100_000) for number in range(1, 100)]
    number = take_request(batch)
    assert number * len(batch[0].data) <= MAX_BYTES < 4 * 2**20
    assert number > 35
    assert 1 == take_request([make_large(1, 5_000_000), make_large(2, 10)])
