from __future__ import annotations

from typing import Any

import pytest

from otel_trace.journal.values import add_value

CASES: list[tuple[str, Any, dict[str, Any]]] = [
    ("param.lr", 0.1, {"param.lr": 0.1}),
    ("param.x", None, {}),
    ("return", 3, {"return.value": 3}),
    (
        "return",
        {".shape": [8, 16], ".dtype": "float32"},
        {"return.shape": [8, 16], "return.dtype": "float32"},
    ),
    ("param.n", {".in_words": "NaN"}, {"otel_trace.unrepresentable": ["param.n=NaN"]}),
]


@pytest.mark.parametrize(("name", "value", "expected"), CASES)
def test_value_becomes_attributes(name: str, value: Any, expected: dict[str, Any]) -> None:
    """A scalar stands under its name, facts below it, numbers nobody can hold in words."""
    attributes: dict[str, Any] = {}
    add_value(attributes, name, value)
    assert expected == attributes


def test_words_of_several_values_are_gathered() -> None:
    """Each number that was told in words has its entry."""
    attributes: dict[str, Any] = {}
    for name in ("a", "b"):
        add_value(attributes, name, {".in_words": "Infinity"})
    assert attributes == {"otel_trace.unrepresentable": ["a=Infinity", "b=Infinity"]}
