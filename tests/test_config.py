"""Settings are read from the environment, and a bad one is told and replaced."""

from __future__ import annotations

import logging
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from otel_trace import config
from otel_trace.config import TABLE, Keep, parse_keep


@pytest.fixture(autouse=True)
def tell_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin each test with nothing told."""
    monkeypatch.setattr(config, "_told", set())


@pytest.mark.parametrize("variable", TABLE, ids=lambda variable: variable.name)
@pytest.mark.parametrize("environ", [{}, {"": ""}, " "])
def test_what_is_not_set_has_its_default(variable: config.Variable, environ: Any) -> None:
    """An unset variable and one of nothing but space are the same."""
    environ = {variable.name: environ} if isinstance(environ, str) else environ
    assert variable.default == config.read(variable.name, environ)
    assert variable.meaning


@pytest.mark.parametrize(
    ("expected", "name", "text"),
    [
        (True, "OTEL_SDK_DISABLED", "true"),
        (True, "OTELTRACE_STRICT", " YES\n"),
        (False, "OTELTRACE_STRICT", "off"),
        ("numbers", "OTELTRACE_VALUES", "Numbers"),
        ("/a b/c", "OTELTRACE_DIR", " /a b/c "),
        (Keep(), "OTELTRACE_KEEP", "7d,5GB"),
        (Keep(days=0.5), "OTELTRACE_KEEP", "0.5d"),
        (Keep(num_bytes=300 * 2**20), "OTELTRACE_KEEP", "300 MiB"),
        (Keep(2, 1000), "OTELTRACE_KEEP", "1000 , 2d"),
        (Keep(num_bytes=2**40), "OTELTRACE_KEEP", "1t"),
    ],
)
def test_what_is_set_is_read(expected: Any, name: str, text: str) -> None:
    """Case and the space around a value do not matter."""
    assert expected == config.read(name, {name: text})


@pytest.mark.parametrize(
    ("line", "name", "text"),
    [
        (
            "OTELTRACE_STRICT='maybe': expected 1 or 0, true or false; using False",
            "OTELTRACE_STRICT",
            "maybe",
        ),
        ("OTELTRACE_VALUES='some': expected all, numbers or none; using all", "OTELTRACE_VALUES", "some"),
        ("OTELTRACE_KEEP='-1d': expected days and bytes as in 7d,5GB; using 7d,5GB", "OTELTRACE_KEEP", "-1d"),
        ("OTELTRACE_KEEP='7d,': expected days and bytes as in 7d,5GB; using 7d,5GB", "OTELTRACE_KEEP", "7d,"),
        (f"OTELTRACE_KEEP='{'9' * 100}': expected less than that; using 7d,5GB", "OTELTRACE_KEEP", "9" * 400),
        (
            f"OTELTRACE_KEEP='{'9' * 100}': expected less than that; using 7d,5GB",
            "OTELTRACE_KEEP",
            "9" * 400 + "d",
        ),
        (
            r"OTELTRACE_STRICT='a\nb\udcff': expected 1 or 0, true or false; using False",
            "OTELTRACE_STRICT",
            "a\nb\udcff",
        ),
    ],
)
def test_a_bad_value_is_told_in_one_line(
    caplog: pytest.LogCaptureFixture, line: str, name: str, text: str
) -> None:
    """The line names the variable, the value and what is used instead; it is told once."""
    with caplog.at_level(logging.WARNING, "otel_trace"):
        default = config.read(name, {name: text})
        config.read(name, {name: text})
    assert [f"otel_trace: {line}"] == [record.getMessage() for record in caplog.records]
    assert default == config.read(name, {})


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(TABLE), st.text())
@example(TABLE[0], "\ud800")
def test_no_value_raises(variable: config.Variable, text: str) -> None:
    """Whatever somebody has written, there is a value of the right type."""
    assert isinstance(config.read(variable.name, {variable.name: text}), type(variable.default))


@given(st.integers(0, 10**6), st.integers(0, 10**15))
def test_what_is_kept_is_written_as_it_is_read(days: int, num_bytes: int) -> None:
    """A message shows a setting in the form in which one sets it."""
    assert Keep(days, num_bytes) == parse_keep(str(Keep(days, num_bytes)))


class Refusing(logging.Handler):
    """A handler of the user's that fails."""

    def emit(self, record: logging.LogRecord) -> None:
        raise AssertionError


def test_a_handler_of_the_users_that_fails_is_no_matter() -> None:
    """Telling the user may fail; reading the setting does not."""
    logger, handler = logging.getLogger("otel_trace"), Refusing()
    logger.addHandler(handler)
    try:
        assert config.read("OTELTRACE_STRICT", {"OTELTRACE_STRICT": "maybe"}) is False
    finally:
        logger.removeHandler(handler)


def test_the_environment_is_read_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that the program sets before it configures us counts."""
    monkeypatch.setenv("OTEL_SERVICE_NAME", "trainer")
    assert "trainer" == config.read("OTEL_SERVICE_NAME")
    monkeypatch.delitem(os.environ, "OTEL_SERVICE_NAME")
    assert "" == config.read("OTEL_SERVICE_NAME")
