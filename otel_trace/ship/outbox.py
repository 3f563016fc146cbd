"""Encoded spans on their way: in requests that every receiver takes, until each is acknowledged or given up.

A request holds at most 512 spans and 4 MiB less a margin. One that is too large, or malformed in one span, is
halved until the span is found; that one is given up only if the endpoint takes anything else, be it an empty
request. What the endpoint as a whole refuses stays where it is: asking again later may be answered
otherwise, once the user has mended it.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from otel_trace.journal.delivery import Delivery
from otel_trace.ship.answer import Answer, Outcome
from otel_trace.ship.encode import EncodedSpan, encode_request

MAX_SPANS = 512
MAX_BYTES = 4 * 2**20 - 64 * 2**10
_SPAN_OVERHEAD = 16


class Sender(Protocol):
    """What asks the backend."""

    endpoint: str

    def send(self, body: bytes) -> Answer:
        """Send one request and say what became of it."""

    def close(self) -> None:
        """Close the connections."""


class Outbox:
    """Sends spans in order, and counts what became of them."""

    def __init__(self, sender: Sender, delivery: Delivery, tell: Callable[[str], None]) -> None:
        self._sender = sender
        self._delivery = delivery
        self._tell = tell

    def send(self, spans: Sequence[EncodedSpan]) -> tuple[int, Answer]:
        """Send spans that fit into one request; give how many of the first are settled, and the last answer."""
        settled, is_sound = 0, False
        answer = Answer(Outcome.DELIVERED)
        parts = [(0, len(spans))]
        while parts:
            begin, end = parts.pop()
            answer = self._ask(spans[begin:end])
            if answer.outcome is Outcome.DELIVERED:
                self._count(answer, spans[begin:end])
                settled, is_sound = end, True
            elif answer.outcome not in {Outcome.SPLIT, Outcome.MALFORMED}:
                break
            elif end - begin > 1:
                middle = (begin + end) // 2
                parts += [(middle, end), (begin, middle)]
            else:
                is_sound = is_sound or self._ask(()).outcome is Outcome.DELIVERED
                if not is_sound:
                    break
                self._give_up(spans[begin], answer)
                settled, answer = end, Answer(Outcome.DELIVERED)
        self._note(answer)
        return settled, answer

    def _ask(self, spans: Sequence[EncodedSpan]) -> Answer:
        answer = self._sender.send(encode_request(spans))
        self._delivery.is_reached = answer.is_reached
        return answer

    def _count(self, answer: Answer, spans: Sequence[EncodedSpan]) -> None:
        number = sum(not span.is_marker for span in spans)
        rejected = min(answer.rejected, number)
        self._delivery.delivered += number - rejected
        self._delivery.drop("rejected", rejected)
        if answer.reason:
            self._delivery.notice = f"{self._sender.endpoint}: {answer.reason}"
            self._tell(self._delivery.notice)

    def _give_up(self, span: EncodedSpan, answer: Answer) -> None:
        if not span.is_marker:
            self._delivery.drop("too_large" if answer.outcome is Outcome.SPLIT else "refused", 1)
        self._delivery.notice = f"{self._sender.endpoint} does not take span {span.span_id} of {len(span.data)} bytes: {answer.reason}"
        self._tell(self._delivery.notice)

    def _note(self, answer: Answer) -> None:
        """Say what stands in the way, when that is news."""
        message = ""
        if answer.outcome is Outcome.RETRY:
            verb = "answers" if answer.is_reached else "does not answer:"
            message = f"{self._sender.endpoint} {verb} {answer.reason}; spans stay in the journal until it takes them"
        elif answer.outcome is not Outcome.DELIVERED:
            message = (
                f"{self._sender.endpoint} does not take our spans: {answer.reason}; they stay in the journal"
            )
        if message and message != self._delivery.message:
            self._tell(message)
        self._delivery.message = message


def take_request(spans: Sequence[EncodedSpan]) -> int:
    """Give how many of the first spans fit into one request, at least one."""
    size = 0
    for number, span in enumerate(spans[:MAX_SPANS]):
        size += len(span.data) + _SPAN_OVERHEAD
        if size > MAX_BYTES and number:
            return number
    return min(len(spans), MAX_SPANS)
