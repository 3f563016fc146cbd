from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from otel_trace import names
from otel_trace.describe.facts import Facts
from otel_trace.describe.value import Ladder
from otel_trace.journal.values import add_value

MAX_FACTS = 32
MAX_NAME = 256
MAX_BYTES = 2048

keys = st.one_of(
    st.text(max_size=80),
    st.sampled_from(["shape", "length", "in_words", "type", "a.b", "a_b", "1"]),
    st.integers(-3, 3),
    st.booleans(),
    st.none(),
    st.floats(),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(2**62, 2**70),
    st.floats(),
    st.complex_numbers(),
    st.text(st.characters(), max_size=200),
    st.text(st.characters(categories=["Cs", "Lu"]), max_size=5),
    st.binary(max_size=20),
    st.fractions(),
    st.dates(),
    st.builds(object),
    st.just(Fraction),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=12),
        st.tuples(inner, inner),
        st.dictionaries(keys, inner, max_size=12),
        st.sets(st.integers(), max_size=3),
    ),
    max_leaves=60,
)


def is_valid(value: Any) -> bool:
    """Say whether every backend can hold it: a bounded string, a bool, an int64, a finite double, an array of one."""
    if isinstance(value, str):
        return len(value.encode()) <= MAX_BYTES  # and it can be encoded
    if isinstance(value, list):
        return len(value) > 0 and len({type(item) for item in value}) == 1 and all(map(is_valid, value))
    if type(value) is int:
        return -(2**63) <= value < 2**63
    return type(value) is bool or (type(value) is float and math.isfinite(value))


def expand(value: Any, setting: str) -> dict[str, Any]:
    """Give the attributes that a parameter `x` becomes."""
    found = Ladder(setting).describe(value)
    attributes: dict[str, Any] = {}
    add_value(attributes, "param.x", found.data if isinstance(found, Facts) else found)
    return attributes


@pytest.mark.parametrize("setting", ["all", "numbers", "none"])
@settings(deadline=None, max_examples=150)
@given(value=values)
@example(value={1: 5, "1": [1]})
@example(value={"length": [1], "in_words": math.nan})
@example(value={"a.b": 1, "a": {"b": [1]}, "a_b": {"c": 1}})
def test_any_value_becomes_a_bounded_and_flat_set_of_attributes(setting: str, value: Any) -> None:
    """At most 32 facts, each a valid attribute; no name is both a value and the beginning of another."""
    attributes = expand(value, setting)
    assert 0 < len(attributes) <= MAX_FACTS
    assert [] == [name for name in attributes if not 0 < len(name.encode()) <= MAX_NAME]
    assert {} == {name: fact for name, fact in attributes.items() if not is_valid(fact)}
    assert [] == [name for name in attributes if any(other.startswith(f"{name}.") for other in attributes)]


@settings(deadline=None)
@given(value=values)
def test_a_description_is_repeatable(value: Any) -> None:
    """The same value has the same description: looking at it changes nothing."""
    assert expand(value, "all") == expand(value, "all")


def test_what_cannot_be_a_number_is_listed_under_one_name() -> None:
    """NaN inside a container is told with its place."""
    assert {"param.x.length": 2, "param.x.0": 0.5, names.UNREPRESENTABLE: ["param.x.1=NaN"]} == expand(
        [0.5, math.nan], "all"
    )
