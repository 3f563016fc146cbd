"""A described value as attributes: itself under its name, or each of its facts below it."""

from collections.abc import Mapping
from typing import Any

from otel_trace import names
from otel_trace.journal.clean import MAX_ATTRIBUTES

_SCALARS = frozenset({int, float, str, bool})


def add_value(attributes: dict[str, Any], name: str, value: Any) -> None:
    """Add the attributes of a described value."""
    if value.__class__ not in _SCALARS and isinstance(value, Mapping):
        for suffix, fact in value.items():
            add_fact(attributes, name + suffix, fact)
    elif value is not None:
        attributes[names.RETURN_VALUE if name == names.RETURN else name] = value


def bound_attributes(attributes: dict[str, Any]) -> int:
    """Drop what a span has beyond its share, least needed first; give how many were dropped."""
    excess = len(attributes) - MAX_ATTRIBUTES
    if excess <= 0:
        return 0
    for name in [name for name in reversed(attributes) if not _is_needed(name)][:excess]:
        del attributes[name]
    return excess


def _is_needed(name: str) -> bool:
    return name.endswith(names.SUMMARY) or name.startswith(("training.", "code.", "otel_trace."))


def add_fact(attributes: dict[str, Any], name: str, fact: Any) -> None:
    """Add one attribute; a number that no backend can hold goes where those are told in words."""
    if name.endswith(names.IN_WORDS):
        entry = f"{name.removesuffix(names.IN_WORDS)}={fact}"
        attributes[names.UNREPRESENTABLE] = [*attributes.get(names.UNREPRESENTABLE, ()), entry]
    else:
        attributes[name] = fact
