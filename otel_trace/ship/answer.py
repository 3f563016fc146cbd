"""What a backend said to a request, in the few ways that matter.

    2xx                     DELIVERED, less what `partial_success` rejects
    408, 429, 5xx, nothing  RETRY, after what the backend asks for
    413, message too large  SPLIT
    400, invalid argument   MALFORMED: one span in it may be the reason
    3xx, other 4xx          REFUSED: the endpoint as a whole; the user is told

Only DELIVERED moves on. Whatever else it is, the spans stay in the journal, but for a single span that a
sound endpoint does not take.
"""

import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum

_LONGEST_WISH = 300.0


class Outcome(Enum):
    """What to do with a request after its answer."""

    DELIVERED = "delivered"
    RETRY = "retry"
    SPLIT = "split"
    MALFORMED = "malformed"
    REFUSED = "refused"


@dataclass(frozen=True)
class Answer:
    """One answer; `reason` is for people."""

    outcome: Outcome
    reason: str = ""
    rejected: int = 0
    retry_after: float = 0.0
    is_reached: bool = True


_RETRY = frozenset({408, 429, 500, 502, 503, 504})
_REDIRECT = "the endpoint answers with a redirect, as a login page does"
_MEANING = {
    301: _REDIRECT,
    302: _REDIRECT,
    303: _REDIRECT,
    307: _REDIRECT,
    308: _REDIRECT,
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
        return Answer(Outcome.RETRY, f"{status}{quote(detail)}", retry_after=read_seconds(retry_after))
    meaning = _MEANING.get(status, "the endpoint refuses the request")
    outcome = Outcome.MALFORMED if status == 400 else Outcome.REFUSED
    return Answer(outcome, f"{status}: {meaning}{quote(detail)}")


def read_seconds(text: str | None) -> float:
    """Read `Retry-After`, seconds or a date, as seconds; nonsense counts as not said."""
    if not text:
        return 0.0
    try:
        return bound_wish(float(text))
    except ValueError:
        return _read_date(text)


def _read_date(text: str) -> float:
    try:
        return bound_wish(parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def bound_wish(seconds: float) -> float:
    """Give what a backend asks for within reason; NaN counts as not said."""
    return min(max(seconds, 0.0), _LONGEST_WISH) if seconds == seconds else 0.0  # noqa: PLR0124


def read_partial(rejected: int, message: str) -> Answer:
    """Read a success that may not be whole."""
    reason = f"{rejected} spans rejected{quote(message)}" if rejected > 0 else message
    return Answer(Outcome.DELIVERED, reason, rejected=max(rejected, 0))


def quote(detail: str) -> str:
    """Give what a backend said in one line, or nothing."""
    line = " ".join(detail.split())[:200]
    return f" ({line})" if line and line.isprintable() else ""
