from __future__ import annotations

import math
from enum import Enum, IntEnum
from typing import Any

import pytest

from tests.describe.reading import by_type_only, describe


class Color(Enum):
    RED = 1


class Level(IntEnum):
    HIGH = 3


class Loud(str):
    """A string that objects to being asked anything."""

    __slots__ = ()

    def __str__(self) -> str:
        raise AssertionError

    __repr__ = __str__

    def __len__(self) -> int:
        raise AssertionError

    def __getitem__(self, key: Any) -> str:
        raise AssertionError

    def encode(self, *args: Any, **kwargs: Any) -> bytes:
        raise AssertionError


class LoudInt(int):
    def __index__(self) -> int:
        raise AssertionError

    def __int__(self) -> int:
        raise AssertionError

    def __str__(self) -> str:
        raise AssertionError

    def __lt__(self, other: object) -> bool:
        raise AssertionError


class LoudFloat(float):
    def __float__(self) -> float:
        raise AssertionError

    def __sub__(self, other: Any) -> float:
        raise AssertionError

    def __eq__(self, other: object) -> bool:
        raise AssertionError

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("value", [True, False, 0, -1, 2**63 - 1, -(2**63), 0.1, -0.0, 1e308, 5e-324])
def test_a_number_is_itself(value: float) -> None:
    """A number that every backend holds stays as it is, in value and in type."""
    found = describe(value)
    assert (type(value), value) == (type(found), found)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("NaN", math.nan),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        ("1180591620717411303424", 2**70),
        ("-9223372036854775809", -(2**63) - 1),
        pytest.param("an integer of 100001 bits", 2**100_000, id="100001 bits"),
    ],
)
def test_a_number_that_no_backend_holds_is_told_in_words(words: str, value: float) -> None:
    """NaN, infinities and integers beyond 64 bits are a fact in words, never a number."""
    assert {".in_words": words} == describe(value)


def test_a_complex_number_is_text() -> None:
    """No backend has complex numbers, so they are written out."""
    assert "(1+2j)" == describe(1 + 2j)
    assert "(nan+infj)" == describe(complex(math.nan, math.inf))


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("adam", "adam"),
        ("", ""),
        ("größe \N{SNOWMAN}", "größe \N{SNOWMAN}"),
        ("a\0b", "a\0b"),
        ("?x", "\ud800x"),
        ("a" * 120, "a" * 120),
        ("a" * 120 + "... (121 characters)", "a" * 121),
        ("é" * 120 + "... (1000000 characters)", "é" * 1_000_000),
    ],
)
def test_a_string_is_itself_up_to_a_length(expected: str, value: str) -> None:
    """A string is valid UTF-8 of at most 120 characters and, when cut, tells its length."""
    assert expected == describe(value)


def test_an_enum_of_integers_is_its_number_and_another_its_type() -> None:
    """A subclass of a built-in is described as that; what is none is told by its type."""
    found = describe(Level.HIGH)
    assert (int, 3) == (type(found), found)
    assert by_type_only(Color) == describe(Color.RED)


def test_none_is_told_by_its_type() -> None:
    """None has no value to show, and is not taken for a missing argument."""
    assert by_type_only(type(None)) == describe(None)


@pytest.mark.parametrize(
    ("expected", "value"),
    [("loud", Loud("loud")), (7, LoudInt(7)), (0.5, LoudFloat(0.5))],
    ids=["str", "int", "float"],
)
def test_what_a_subclass_overrides_is_not_called(expected: float | str, value: Any) -> None:
    """The built-in's own methods are used, and the plain value is kept, not the user's object."""
    found = describe(value)
    assert (type(expected), expected) == (type(found), found)


@pytest.mark.parametrize(
    ("values", "number", "text"),
    [("all", 3, "adam"), ("numbers", 3, by_type_only(str)), ("none", by_type_only(int), by_type_only(str))],
)
def test_the_setting_says_which_values_are_told(values: str, number: Any, text: Any) -> None:
    """OTELTRACE_VALUES leaves strings out, or all values; their types stay."""
    assert number == describe(3, values)
    assert text == describe("adam", values)
    assert {".length": 1} == describe(["adam"], values)
