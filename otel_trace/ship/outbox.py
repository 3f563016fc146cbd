"""Encoded spans on their way: in requests that every receiver takes, until each is acknowledged or given up.

A request holds at most 512 spans and 4 MiB less a margin. One that is too large, or malformed in one span, is
halved until the span is found. What the endpoint as a whole refuses stays where it is: asking again later
may be answered otherwise, once the user has mended it.
"""

from collections.abc import Callable
from typing import Protocol

from otel_trace.journal.delivery import Delivery
from otel_trace.ship.answer import Answer, Outcome
from otel_trace.ship.encode import EncodedSpan, encode_request

_MAX_SPANS = 512
_MAX_BYTES = 4 * 2**20 - 64 * 2**10


class Sender(Protocol):
    """What asks the backend."""

    endpoint: str

    def send(self, body: bytes) -> Answer:
        """Send one request and say what became of it."""


class Outbox:
    """Sends spans in order; `is_blocked` says that the last ones have to wait."""

    def __init__(self, sender: Sender, delivery: Delivery, tell: Callable[[str], None]) -> None:
        self._sender = sender
        self._delivery = delivery
        self._tell = tell

    def send(self, spans: list[EncodedSpan]) -> Answer:
        """Send spans that fit into one request; give the answer that settles them or lets them wait."""
        answer = self._sender.send(encode_request(spans))
        self._delivery.is_reached = answer.is_reached
        if answer.outcome is Outcome.DELIVERED:
            self._count(answer, len(spans))
        elif answer.outcome is Outcome.SPLIT or (self._is_about_spans(answer) and self._delivery.delivered):
            return self._halve(spans, answer)
        elif answer.outcome is Outcome.REFUSED:
            self._say(
                f"{self._sender.endpoint} does not take our spans: {answer.reason}; they stay in the journal"
            )
        return answer

    def _count(self, answer: Answer, number: int) -> None:
        self._delivery.delivered += number - min(answer.rejected, number)
        self._delivery.drop("rejected", min(answer.rejected, number))
        if answer.rejected:
            self._say(f"{self._sender.endpoint}: {answer.reason}")

    def _is_about_spans(self, answer: Answer) -> bool:
        return answer.outcome is Outcome.REFUSED and answer.reason.startswith(("400", "INVALID_ARGUMENT"))

    def _halve(self, spans: list[EncodedSpan], answer: Answer) -> Answer:
        if len(spans) == 1:
            reason = "too_large" if answer.outcome is Outcome.SPLIT else "refused"
            self._delivery.drop(reason, 1)
            self._say(
                f"{self._sender.endpoint} does not take a span of {len(spans[0].data)} bytes: {answer.reason}"
            )
            return Answer(Outcome.DELIVERED)
        middle = len(spans) // 2
        first = self.send(spans[:middle])
        return first if first.outcome is not Outcome.DELIVERED else self.send(spans[middle:])

    def _say(self, message: str) -> None:
        self._delivery.message = message
        self._tell(message)


def take_request(spans: list[EncodedSpan]) -> int:
    """Give how many of the first spans fit into one request, at least one."""
    size = 0
    for number, span in enumerate(spans[:_MAX_SPANS]):
        size += len(span.data) + 16
        if size > _MAX_BYTES and number:
            return number
    return min(len(spans), _MAX_SPANS)
