"""A described value as attributes: itself under its name, or each of its facts below it."""

from collections.abc import Mapping
from typing import Any

from otel_trace import names

_SCALARS = frozenset({int, float, str, bool})


def add_value(attributes: dict[str, Any], name: str, value: Any) -> None:
    """Add the attributes of a described value."""
    if value.__class__ not in _SCALARS and isinstance(value, Mapping):
        for suffix, fact in value.items():
            add_fact(attributes, name + suffix, fact)
    elif value is not None:
        attributes[names.RETURN_VALUE if name == names.RETURN else name] = value


def add_fact(attributes: dict[str, Any], name: str, fact: Any) -> None:
    """Add one attribute; a number that no backend can hold goes where those are told in words."""
    if name.endswith(names.IN_WORDS):
        entry = f"{name.removesuffix(names.IN_WORDS)}={fact}"
        attributes[names.UNREPRESENTABLE] = [*attributes.get(names.UNREPRESENTABLE, ()), entry]
    else:
        attributes[name] = fact
