from typing import Any

import pytest

from otel_trace.view.facts import ErrorFacts
from otel_trace.view.happenings import list_event_words, say_error
from tests.view.factories import make_event, make_exception

STACK = """Traceback (most recent call last):
  File "/job/train.py", line 40, in main
    step()
  File "/job/model.py", line 31, in forward
    raise ValueError("bad shape")
ValueError: bad shape
"""


@pytest.mark.parametrize(
    ("words", "attributes"),
    [
        (
            ["loss = 0.31", "(was 0.35)", "(train.py:12)"],
            {"variable__value": "0.31", "variable__previous": "0.35"},
        ),
        (["loss = float32[8] cpu", "(train.py:12)"], {"variable__summary": "float32[8] cpu"}),
        (
            ["loss = float32[8, 2] cpu", "(train.py:12)"],
            {"variable__shape": [8, 2], "variable__dtype": "float32", "variable__device": "cpu"},
        ),
        (["loss = builtins.dict", "(train.py:12)"], {"variable__type": "builtins.dict"}),
        (["loss = ?", "(train.py:12)"], {}),
    ],
)
def test_a_change_says_value_and_line(words: list[str], attributes: dict[str, Any]) -> None:
    """A watched variable's change shows its new value, the one before and the line that did it."""
    event = make_event("variable.change", 1, variable__name="loss", code__line__number=12, **attributes)
    assert words == list_event_words(event, "/job/train.py")


def test_a_change_without_a_line_says_none() -> None:
    """Where the line is not known, nothing stands in its place."""
    assert ["? = 1"] == list_event_words(make_event("variable.change", 1, variable__value="1"))


def test_an_exception_says_where_it_was_raised() -> None:
    """An exception shows its type, its message and the innermost line of its stack."""
    event = make_exception("ValueError", "bad shape", stack=STACK)
    assert ["! ValueError: bad shape", "(model.py:31 in forward)"] == list_event_words(event)


def test_an_exception_without_a_stack_says_what_it_knows() -> None:
    """An exception from another library may have neither stack nor message."""
    assert ["! KeyError"] == list_event_words(make_exception("KeyError", ""))


def test_any_other_event_has_its_name_and_attributes() -> None:
    """An event of the user's is shown as it is."""
    assert ["saved", "file='a.pt'", "size=3"] == list_event_words(make_event("saved", 1, file="a.pt", size=3))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("! ValueError: bad", ErrorFacts("ValueError", "bad", "")),
        ("! ValueError: bad", ErrorFacts("", "ValueError: bad", "")),
        ("! error", ErrorFacts("", "", "")),
        (r"! E: \x1b[2J", ErrorFacts("E", "\x1b[2J", "")),
    ],
)
def test_an_error_is_said_in_one_piece(text: str, error: ErrorFacts) -> None:
    """Type and message stand together, each where it is known."""
    assert text == say_error(error)
