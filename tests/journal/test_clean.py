from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from otel_trace.journal.clean import MAX_ATTRIBUTES, MAX_BYTES, clean_attributes, clean_text, clean_value
from otel_trace.journal.format import MAX_PAYLOAD, decode_payload, encode

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.complex_numbers()
)
TEXTS = st.text(st.characters(codec=None, categories=None))
VALUES = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(SCALARS | TEXTS, inner),
    max_leaves=20,
)


class Pretender:
    """Says that it is a string, a number and a list, and answers with errors."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.kind

    def __len__(self) -> int:
        raise RuntimeError("called")

    __index__ = __float__ = __len__


class Loud(str):
    """A string whose methods raise."""

    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("called")

    __len__ = __format__ = __hash__ = __iter__ = encode = isascii = __str__  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("a\ud800b", "a?b"),
        ("nul\0", "nul\0"),
        ("x" * 5000, "x" * 2048),
        ("ä" * 2000, "ä" * 1024),
        ("a" + "𝄞" * 2000, "a" + "𝄞" * 511),
    ],
)
def test_text_is_cut_at_a_character(text: str, expected: str) -> None:
    """A text has at most 2,048 bytes and can be written."""
    assert expected == clean_text(text)


def test_long_text_is_not_copied_whole() -> None:
    """Of 100 MB only what is kept is looked at."""
    assert "é" * 1024 == clean_text("é" * 50_000_000)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, True),
        (2**63 - 1, 2**63 - 1),
        (0.5, 0.5),
        ((1, 2), [1, 2]),
        (b"x" * 5000, b"x" * 2048),
        ({"a": {None: 1}}, {"a": {"builtins.NoneType": 1}}),
        (object(), "builtins.object"),
    ],
)
def test_attribute_value_is_kept_or_named(value: Any, expected: Any) -> None:
    """What can be written is itself, anything else the name of its type."""
    assert ({"a": expected}, 0) == clean_attributes({"a": value})


@pytest.mark.parametrize("kind", [str, int, float, list, dict, bytes])
def test_pretender_is_named_and_not_called(kind: type) -> None:
    """An object that answers `isinstance` with a lie is named by its real type; nothing of it is called."""
    assert ({"a": f"{__name__}.Pretender"}, 0) == clean_attributes({"a": Pretender(kind)})


def test_methods_of_a_string_are_not_called() -> None:
    """A string of the user's own class gives its characters."""
    assert ({"a": "quiet"}, 0) == clean_attributes({"a": Loud("quiet")})


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (2**63, "9223372036854775808"),
        (1 << 1000, "an integer of 1001 bits"),
        ([1.0, math.nan], "NaN"),
    ],
)
def test_number_nobody_can_hold_is_told_in_words(value: Any, words: str) -> None:
    """Such a number is no attribute of its own, so that its name keeps one type."""
    expected = {"b": 1, "otel_trace.unrepresentable": [f"a={words}"]}
    assert (expected, 0) == clean_attributes({"a": value, "b": 1})


def test_keys_that_are_no_names_are_dropped() -> None:
    """None, a number and the empty string name nothing; the others stay."""
    attributes: Any = {None: 1, 3: 2, "": 3, "kept": 4}
    assert ({"kept": 4}, 3) == clean_attributes(attributes)


def test_attributes_beyond_the_limit_are_counted() -> None:
    """The first 128 are kept."""
    kept, dropped = clean_attributes({f"a{number}": number for number in range(200)})
    assert (MAX_ATTRIBUTES, 72) == (len(kept), dropped)


def test_fullest_attributes_fit_a_record() -> None:
    """128 attributes of the longest arrays of four-byte characters are within what a record may have."""
    attributes = {f"a{number}": ["𝄞" * 1000] * 100 for number in range(200)}
    assert MAX_PAYLOAD > len(encode([3, 1, 1, None, {"a": clean_attributes(attributes)[0]}]))


def test_self_referential_containers_end() -> None:
    """A list and a dict that contain themselves are cut at a depth and a size."""
    looped: list[Any] = []
    looped += [looped] * 100
    around: dict[str, Any] = {}
    around["me"] = around
    kept, _ = clean_attributes({"list": looped, "dict": around, "next": 1})
    assert (1, ["list", "dict", "next"]) == (kept["next"], list(kept))
    assert 64 * 1024 > len(encode(kept))


def test_number_in_a_map_in_place_is_told_there() -> None:
    """Facts written in place keep their shape: only the number turns into words."""
    assert {"a": [1, "NaN"], "b": {"c": "18446744073709551616"}} == clean_value(
        {"a": [1, math.nan], "b": {"c": 2**64}}
    )


@given(st.dictionaries(TEXTS, VALUES))
def test_any_attributes_can_be_written_and_read_back(attributes: dict[str, Any]) -> None:
    """Whatever the values: bounded, flat enough, and the same after encoding and decoding."""
    kept, dropped = clean_attributes(attributes)
    payload = encode([3, kept])
    assert [3, kept] == decode_payload(payload)
    assert len(attributes) >= dropped
    assert not any(key.encode("utf-8")[MAX_BYTES:] for key in kept)


@given(VALUES)
def test_any_value_can_be_written(value: Any) -> None:
    """A value of a record is encoded without an error and within the limit."""
    assert MAX_PAYLOAD > len(msgspec.msgpack.encode(clean_value(value)))
