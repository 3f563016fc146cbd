import time
from email.utils import formatdate

import pytest

from otel_trace.ship.answer import Outcome, quote, read_partial, read_seconds, read_status


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (408, Outcome.RETRY),
        (429, Outcome.RETRY),
        (500, Outcome.RETRY),
        (502, Outcome.RETRY),
        (503, Outcome.RETRY),
        (504, Outcome.RETRY),
        (520, Outcome.RETRY),
        (413, Outcome.SPLIT),
        (400, Outcome.MALFORMED),
        (302, Outcome.REFUSED),
        (401, Outcome.REFUSED),
        (403, Outcome.REFUSED),
        (404, Outcome.REFUSED),
        (405, Outcome.REFUSED),
        (415, Outcome.REFUSED),
        (418, Outcome.REFUSED),
    ],
)
def test_status_says_what_to_do(status: int, outcome: Outcome) -> None:
    """Each status is tried again, made smaller, or told to the user."""
    answer = read_status(status, None, "")
    assert (outcome, True) == (answer.outcome, answer.is_reached)
    assert answer.reason.startswith(str(status))


def test_refusal_says_what_to_do_about_it() -> None:
    """The line for the user names the status, what it means, the variable, and what the backend said."""
    assert (
        "401: the endpoint wants credentials: set OTEL_EXPORTER_OTLP_HEADERS (no token)"
        == read_status(401, None, "no\n token ").reason
    )


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7),
        ("0.5", 0.5),
        (None, 0),
        ("", 0),
        ("-3", 0),
        ("99999", 300),
        ("soon", 0),
        ("nan", 0),
        ("inf", 300),
    ],
)
def test_retry_after_in_seconds(text: str | None, seconds: float) -> None:
    """What the backend asks for is honoured within reason."""
    assert seconds == read_seconds(text)


def test_retry_after_as_a_date() -> None:
    """A date is as good as seconds; one in the past means at once."""
    assert 55 < read_seconds(formatdate(time.time() + 60, usegmt=True)) <= 60
    assert 0 == read_seconds(formatdate(time.time() - 60, usegmt=True))


def test_partial_success_counts() -> None:
    """A success says how many spans it did not take; a negative number is nonsense."""
    assert (3, "3 spans rejected (too old)") == (
        (answer := read_partial(3, "too old")).rejected,
        answer.reason,
    )
    assert (0, "") == ((answer := read_partial(0, "")).rejected, answer.reason)
    assert 0 == read_partial(-1, "").rejected


@pytest.mark.parametrize(("detail", "expected"), [("", ""), ("a\n\n b", " (a b)"), ("\x00\x01", "")])
def test_quote_is_one_printable_line(detail: str, expected: str) -> None:
    """What a backend said is quoted in one line, and left out when it is no text."""
    assert expected == quote(detail)
    assert 203 >= len(quote("x" * 5000))
