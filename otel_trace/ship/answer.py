"""What a backend said to a request, in the few ways that matter: delivered, again later, smaller, never.

status              outcome
2xx                 DELIVERED, less what `partial_success` rejects
408 429 5xx, none   RETRY, after what the backend asks for
413, size           SPLIT
3xx, other 4xx      REFUSED: asking again changes nothing; the user is told
"""

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """What to do with a request after its answer."""

    DELIVERED = "delivered"
    RETRY = "retry"
    SPLIT = "split"
    REFUSED = "refused"


@dataclass(frozen=True)
class Answer:
    """One answer; `reason` is for people."""

    outcome: Outcome
    reason: str = ""
    rejected: int = 0
    retry_after: float = 0.0
    is_reached: bool = True


_RETRY = {408, 429, 500, 502, 503, 504}
_MEANING = {
    301: "the endpoint answers with a redirect",
    302: "the endpoint answers with a redirect, as a login page does",
    307: "the endpoint answers with a redirect",
    308: "the endpoint answers with a redirect",
    400: "the endpoint calls the request malformed",
    401: "the endpoint wants credentials: set OTEL_EXPORTER_OTLP_HEADERS",
    403: "the endpoint forbids it: are the credentials in OTEL_EXPORTER_OTLP_HEADERS right?",
    404: "the endpoint has no such path: does OTEL_EXPORTER_OTLP_ENDPOINT end where /v1/traces can be added?",
    405: "the endpoint does not take POST: is it an OTLP/HTTP one?",
    415: "the endpoint does not take protobuf over HTTP: is it an OTLP/HTTP one?",
}


def read_status(status: int, retry_after: str | None, detail: str) -> Answer:
    """Read an HTTP status that is no success."""
    if status == 413:
        return Answer(Outcome.SPLIT, "413: the request is too large for the endpoint")
    if status in _RETRY or status > 504:
        return Answer(Outcome.RETRY, f"{status}{_quote(detail)}", retry_after=read_seconds(retry_after))
    meaning = _MEANING.get(status, "the endpoint refuses the request")
    return Answer(Outcome.REFUSED, f"{status}: {meaning}{_quote(detail)}")


def read_seconds(text: str | None) -> float:
    """Read `Retry-After` in seconds; a date or nonsense counts as not said."""
    try:
        return min(max(float(text or 0), 0.0), 300.0)
    except ValueError:
        return 0.0


def read_partial(rejected: int, message: str) -> Answer:
    """Read a success that may not be whole."""
    reason = f"{rejected} spans rejected{_quote(message)}" if rejected else message
    return Answer(Outcome.DELIVERED, reason, rejected=rejected)


def _quote(detail: str) -> str:
    line = " ".join(detail.split())[:200]
    return f" ({line})" if line.isprintable() and line else ""
