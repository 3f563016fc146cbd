from typing import Any

import pytest

from otel_trace.view.plain import clean_text, format_value


@pytest.mark.parametrize(
    ("plain", "hostile"),
    [
        (r"a\x00b", "a\0b"),
        (r"\x1b[31mred\x1b]0;title\x07", "\x1b[31mred\x1b]0;title\x07"),
        (r"one\ntwo\r\tthree", "one\ntwo\r\tthree"),
        (r"\x9b2J", "\x9b2J"),
        (r"\ud800 alone", "\ud800 alone"),
        (r"abc\u202edcba", "abc\u202edcba"),
        (r"\u2028line", "\u2028line"),
        ("[bold]not markup[/bold] :smile:", "[bold]not markup[/bold] :smile:"),
        ("größer 火", "größer 火"),
    ],
)
def test_what_cannot_be_printed_becomes_an_escape(plain: str, hostile: str) -> None:
    """Text from a run can neither steer the terminal nor leave its line."""
    assert plain == clean_text(hostile)


def test_long_text_is_cut() -> None:
    """A text of any length is cut to what is asked for, escapes included."""
    assert clean_text("x" * 100_000_000, 10) == "xxxxxxx..."
    assert clean_text("\0" * 50, 10) == r"\x00\x0..."


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a'", "a"),
        ("0.312346", 0.31234567),
        ("1e-07", 1e-7),
        ("nan", float("nan")),
        ("True", True),
        ("-7", -7),
        ("None", None),
        ("[8, 16]", [8, 16]),
        ("['a', 'b']", ("a", "b")),
        ("[0, 1, 2, 3, 4, 5, 6, 7, ...]", list(range(100))),
        (r"b'\xff'", b"\xff"),
    ],
)
def test_a_value_is_short_text(text: str, value: Any) -> None:
    """Every kind of attribute has a short form on one line."""
    assert text == format_value(value)
