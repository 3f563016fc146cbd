from typing import Any

import pytest
from hypothesis import given, strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from otel_trace.ship import wire
from otel_trace.ship.wire import BYTES, any_value, attributes, block, key_value, tag, text, varint

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.binary(),
)
VALUES = st.recursive(
    SCALARS | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)
FIELD = tag(9, BYTES)


def expect(value: Any) -> AnyValue:
    """Return what protobuf's own classes make of a value."""
    if isinstance(value, list):
        found = AnyValue()
        found.array_value.SetInParent()
        found.array_value.values.extend(map(expect, value))
        return found
    if isinstance(value, dict):
        found = AnyValue()
        found.kvlist_value.SetInParent()
        found.kvlist_value.values.extend(KeyValue(key=key, value=expect(item)) for key, item in value.items())
        return found
    kinds = {bool: "bool_value", int: "int_value", float: "double_value", str: "string_value"}
    return AnyValue(**({} if value is None else {kinds.get(type(value), "bytes_value"): value}))


@given(VALUES)
def test_value_is_what_protobuf_makes_of_it(value: Any) -> None:
    """Every value, however nested, is read by protobuf's own classes as what they would have made of it."""
    assert expect(value) == AnyValue.FromString(any_value(value))


@given(st.dictionaries(st.text(), VALUES, max_size=8))
def test_attributes_read_back(values: dict[str, Any]) -> None:
    """Attributes read back under their names, in their order."""
    span = Span.FromString(attributes(FIELD, values))
    assert [KeyValue(key=key, value=expect(value)) for key, value in values.items()] == list(span.attributes)


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**32, 2**63 - 1, -1, -(2**63)])
def test_number_of_any_size(number: int) -> None:
    """Integers keep their value, negative ones too."""
    assert number == KeyValue.FromString(key_value("n", number)).value.int_value


def test_equal_values_of_other_kinds_stay_apart() -> None:
    """1, 1.0 and true are equal in Python and different on the wire, also in lists, also the second time."""
    values: list[Any] = [1, 1.0, True, [1], [1.0], [True], [1, 1.0]]
    for _ in range(2):
        found = [Span.FromString(attributes(FIELD, {"x": value})).attributes[0].value for value in values]
        assert list(map(expect, values)) == found


def test_same_name_in_another_field_stays_apart() -> None:
    """What is remembered for a span's attribute is not taken for an event's."""
    assert attributes(FIELD, {"x": 1}) != attributes(tag(3, BYTES), {"x": 1})


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many different values come, memory does not grow with them."""
    monkeypatch.setattr(wire, "_MAX_KNOWN", 10)
    monkeypatch.setattr(wire, "_known", {})
    for number in range(100):
        attributes(FIELD, {"x": number})
    attributes(FIELD, {"long": "x" * 1000})
    assert 10 >= len(wire._known)
    assert not any(len(known) > 600 for known in wire._known.values())


def test_invalid_text_becomes_question_marks() -> None:
    """A lone surrogate, at which the SDK's encoder drops the whole batch, costs one character."""
    assert "a?b" == KeyValue.FromString(text(tag(1, BYTES), "a\ud800b")).key


def test_block_says_its_length() -> None:
    """A field of bytes begins with its tag and its length."""
    assert b"\x0a\xac\x02" + b"x" * 300 == block(tag(1, BYTES), b"x" * 300)
    assert b"\xac\x02" == varint(300)
