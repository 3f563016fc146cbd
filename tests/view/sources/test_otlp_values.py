import math
from typing import Any

import pytest

from otel_trace.view.sources.otlp_values import read_attributes, read_enum, read_id, read_parent, read_value

HEX = "00c7a1b2c3d4e5f6"
BASE64 = "AMehssPU5fY="


@pytest.mark.parametrize("text", [HEX, HEX.upper(), BASE64])
def test_ids_are_hex_or_base64(text: str) -> None:
    """Jaeger writes ids as hex and Tempo as base64; both are read, leading zeros and all."""
    assert HEX == read_id(text, 8)


def test_a_trace_id_has_sixteen_bytes() -> None:
    """An id of a trace is twice as long as that of a span, in either form."""
    assert "ab" * 16 == read_id("ab" * 16, 16) == read_id("q6urq6urq6urq6urq6urqw==", 16)


@pytest.mark.parametrize("text", ["", "12", "zz" * 8, "AMehssPU5Q==", "\u706b" * 12, "AMehssPU5f!="])
def test_what_is_no_id_is_refused(text: str) -> None:
    """A wrong length or a wrong character is an error, never another id."""
    with pytest.raises(ValueError, match=r"."):
        read_id(text, 8)


@pytest.mark.parametrize("text", ["", "0" * 16, "AAAAAAAAAAA="])
def test_no_parent_is_none(text: str) -> None:
    """A root's parent is left out, empty or zero."""
    assert read_parent(text) is None


@pytest.mark.parametrize("value", [2, "2", "SPAN_KIND_SERVER"])
def test_enums_are_numbers_or_names(value: int | str) -> None:
    """Jaeger writes an enum as a number, Tempo as a name."""
    assert 2 == read_enum(value, ("unspecified", "internal", "server"), "SPAN_KIND_")


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("", {"stringValue": ""}),
        (False, {"boolValue": False}),
        (2**63 - 1, {"intValue": "9223372036854775807"}),
        (-(2**63), {"intValue": "-9223372036854775808"}),
        (7, {"intValue": 7}),
        (3.0, {"doubleValue": 3}),
        ([8, 16], {"arrayValue": {"values": [{"intValue": "8"}, {"intValue": "16"}]}}),
        ([], {"arrayValue": {}}),
        ({"a": 1}, {"kvlistValue": {"values": [{"key": "a", "value": {"intValue": "1"}}]}}),
        (b"\0\1", {"bytesValue": "AAE="}),
        (None, {}),
        (None, {"futureValue": 1}),
    ],
)
def test_values_keep_their_types(expected: Any, value: dict[str, Any]) -> None:
    """Each kind of value is read as the Python type that was sent."""
    found = read_value(value)
    assert (expected, type(expected)) == (found, type(found))


def test_numbers_that_json_cannot_say_are_read() -> None:
    """Both backends write NaN and infinities as text."""
    assert math.isnan(read_value({"doubleValue": "NaN"}))
    assert (math.inf, -math.inf) == (
        read_value({"doubleValue": "Infinity"}),
        read_value({"doubleValue": "-Infinity"}),
    )


def test_jaegers_remarks_are_no_attributes() -> None:
    """What Jaeger writes into a span while it reads is left out."""
    pairs = [
        {"key": "@jaeger@warnings", "value": {"stringValue": "skew"}},
        {"key": "lr", "value": {"intValue": "1"}},
    ]
    assert {"lr": 1} == read_attributes({"attributes": pairs})


@pytest.mark.parametrize(
    ("expected", "key", "text"),
    [
        ([8, 16], "param.x.shape", "[8,16]"),
        ([], "return.shape", "[]"),
        ("8", "param.x.shape", "8"),
        ("[8,", "param.x.shape", "[8,"),
        ("[8,16]", "their.shape", "[8,16]"),
        ("[8,16]", "param.x", "[8,16]"),
    ],
)
def test_a_shape_that_badger_made_a_text_is_a_list_again(expected: Any, key: str, text: str) -> None:
    """A Jaeger on badger keeps arrays as text: of ours, shapes are read back; nobody else's text is touched."""
    assert {key: expected} == read_attributes({"attributes": [{"key": key, "value": {"stringValue": text}}]})
