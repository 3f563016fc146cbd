"""A failure of ours is told once per place, and raised only when strict."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from otel_trace import _guard
from otel_trace._guard import forget_what_was_told, report_failure, tell_once

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def told(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """Give the lines told in a test, which begins with nothing told."""
    forget_what_was_told()
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("otel_trace").addHandler(handler)
    yield lines
    logging.getLogger("otel_trace").removeHandler(handler)
    forget_what_was_told()


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Go on after failures, as a user's program does."""
    monkeypatch.setenv("OTELTRACE_STRICT", "0")


class Speechless(Exception):
    """An exception of the user's that cannot be shown."""

    def __str__(self) -> str:
        raise AssertionError

    __repr__ = __format__ = __str__  # type: ignore[assignment]


def test_a_failure_is_told_once_for_each_place(lenient: None, told: list[str]) -> None:
    """The line says what failed and why; the same place is not told again, another one is."""
    report_failure("the span load", ValueError("no"))
    report_failure("the span load", KeyError("other"))
    report_failure("the span save", KeyError("other"))
    assert [
        "otel_trace: the span load failed (ValueError: no); the program goes on without it",
        "otel_trace: the span save failed (KeyError: 'other'); the program goes on without it",
    ] == told


def test_strict_raises_the_failure_itself(told: list[str]) -> None:
    """With OTELTRACE_STRICT=1, as in these tests, the same exception comes out."""
    error = ValueError("no")
    with pytest.raises(ValueError, match="no") as caught:
        report_failure("the span load", error)
    assert error is caught.value
    assert [] == told


def test_an_exception_that_cannot_be_shown_is_named(lenient: None, told: list[str]) -> None:
    """An exception of the user's whose text raises does not raise into the program."""
    report_failure("the span load", Speechless())
    assert ["otel_trace: the span load failed (Speechless); the program goes on without it"] == told


def test_a_handler_of_the_users_that_fails_is_no_matter(lenient: None) -> None:
    """Telling may fail; the program goes on."""
    handler = logging.Handler()

    def refuse(record: logging.LogRecord) -> None:
        raise AssertionError

    handler.emit = refuse  # type: ignore[method-assign]
    logging.getLogger("otel_trace").addHandler(handler)
    try:
        report_failure("the span load", ValueError("no"))
    finally:
        logging.getLogger("otel_trace").removeHandler(handler)


def test_telling_may_lead_to_telling(told: list[str]) -> None:
    """A handler that is itself traced, and fails, is told once and not for ever."""
    handler = logging.Handler()

    def tell_again(record: logging.LogRecord) -> None:
        tell_once(record.name, "again")

    handler.emit = tell_again  # type: ignore[method-assign]
    logging.getLogger("otel_trace").addHandler(handler)
    try:
        tell_once("otel_trace", "first")
    finally:
        logging.getLogger("otel_trace").removeHandler(handler)
    assert ["otel_trace: first"] == told


def test_what_was_told_is_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch, told: list[str]) -> None:
    """Places made from names without end are told up to a number."""
    monkeypatch.setattr(_guard, "_MAX_TOLD", 3)
    for number in range(10):
        tell_once(f"place {number}", "no")
    assert 3 == len(told) == len(_guard._told)
