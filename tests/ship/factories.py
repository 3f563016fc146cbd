"""Small inputs for tests of shipping: spans, senders that answer as they are told, and protobuf read back."""

from collections.abc import Callable, Iterable
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from otel_trace.journal.span_data import ProcessData, SpanData
from otel_trace.ship.answer import Answer, Outcome
from otel_trace.ship.encode import EncodedSpan, encode_request, encode_span

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
START_NS = 1_800_000_000_000_000_000
DELIVERED = Answer(Outcome.DELIVERED)
MALFORMED = Answer(Outcome.MALFORMED, "400: malformed")
TOO_LARGE = Answer(Outcome.SPLIT, "413: too large")
REFUSED = Answer(Outcome.REFUSED, "403: forbidden")
UNREACHED = Answer(Outcome.RETRY, "ConnectionRefusedError", is_reached=False)


def make_process(key: str = "1-2", **resource: Any) -> ProcessData:
    """Return a process with a resource."""
    return ProcessData(
        key, 1, is_alive=True, host="h", run_id="r", resource=resource or {"service.name": "s"}
    )


def make_span(number: int = 1, **fields: Any) -> SpanData:
    """Return a span that took a millisecond, its id made from a number."""
    begin = START_NS + number * 1_000_000
    usual: dict[str, Any] = {
        "name": "work",
        "trace_id": TRACE,
        "span_id": f"{number:016x}",
        "parent_id": None,
        "start_ns": begin,
        "end_ns": begin + 1_000_000,
        "process": make_process(),
    }
    return SpanData(**{**usual, **fields})


def make_encoded(number: int = 1, **fields: Any) -> EncodedSpan:
    """Return a span that is ready to be sent."""
    return encode_span(make_span(number, **fields))


def parse(body: bytes) -> ExportTraceServiceRequest:
    """Read a request as every server does."""
    request = ExportTraceServiceRequest()
    request.ParseFromString(body)
    return request


def list_spans(*bodies: bytes) -> list[Span]:
    """Return the spans of requests, in order."""
    return [
        span
        for body in bodies
        for group in parse(body).resource_spans
        for scope in group.scope_spans
        for span in scope.spans
    ]


def list_numbers(*bodies: bytes) -> list[int]:
    """Return the numbers of the spans of requests, in order."""
    return [int.from_bytes(span.span_id, "big") for span in list_spans(*bodies)]


def parse_one(span: SpanData) -> Span:
    """Encode a span and read it back."""
    return list_spans(encode_request([encode_span(span)]))[0]


class TellingSender:
    """Answers each request by a function of the numbers of its spans, and keeps what was asked."""

    endpoint = "http://backend/v1/traces"

    def __init__(self, answer: Callable[[list[int]], Answer] | Iterable[Answer] = ()) -> None:
        self.asked: list[list[int]] = []
        self.bodies: list[bytes] = []
        self.delivered: list[int] = []
        given = iter(() if callable(answer) else answer)
        self.answer = answer if callable(answer) else lambda _: next(given, DELIVERED)

    def send(self, body: bytes) -> Answer:
        """Answer as told."""
        numbers = list_numbers(body)
        answer = self.answer(numbers)
        self.asked.append(numbers)
        self.bodies.append(body)
        if answer.outcome is Outcome.DELIVERED:
            self.delivered += numbers
        return answer

    def close(self) -> None:
        """There is nothing to close."""
