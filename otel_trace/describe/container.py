"""Lists, tuples and dicts: their length, and what their first items are, within a budget.

Level by level, so that a large first item takes nothing from its neighbours. Only the built-in iteration of
the built-in types is used, so no code of the user's runs. Strings inside are told by count alone.
"""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from otel_trace import names
from otel_trace.describe.facts import Facts

_MAX_ITEMS = 8
_MAX_FACTS = 32
_MAX_DEPTH = 3
_MAX_NAME = 64
_MAX_INT_NAME = 10**18
_INDEXES = tuple(map(str, range(_MAX_ITEMS)))
_CONTAINERS: tuple[Any, ...] = (list, tuple, dict)
_RESERVED = {
    fact.removeprefix(".")
    for fact in (
        names.SHAPE,
        names.DTYPE,
        names.DEVICE,
        names.SUMMARY,
        names.TYPE,
        names.LENGTH,
        names.IN_WORDS,
    )
}

Describe = Callable[[Any], Any]


def describe_container(value: Any, describe: Describe) -> dict[str, Any]:
    """Describe a list, tuple or dict, and what is in it."""
    facts = {names.LENGTH: _measure(value)}
    level = [("", value)]
    for _ in range(_MAX_DEPTH):
        below: list[tuple[str, Any]] = []
        for prefix, container in level:
            for name, item in _name_items(container):
                kind = type(item)
                if issubclass(kind, str):
                    continue
                full_name = f"{prefix}.{name}"
                if issubclass(kind, _CONTAINERS):
                    below.append((full_name, item))
                    has_room = _add(facts, full_name, {names.LENGTH: _measure(item)})
                else:
                    has_room = _add(facts, full_name, describe(item))
                if not has_room:
                    return facts
        level = below
    return facts


def _add(facts: dict[str, Any], name: str, told: Any) -> bool:
    """Add a description under a name; False when there is no room for all of it."""
    if isinstance(told, Facts):
        told = told.data
    elif type(told) is not dict:
        told = {"": told}
    if len(facts) + len(told) > _MAX_FACTS:
        return False
    for suffix, fact in told.items():
        facts[name + suffix] = fact
    return True


def _measure(container: Any) -> int:
    """Give the length as the built-in type knows it."""
    return int(_find_base(container).__len__(container))


def _find_base(container: Any) -> Any:
    kind = type(container)
    return next(base for base in _CONTAINERS if kind is base or issubclass(kind, base))


def _name_items(container: Any) -> Iterable[tuple[str, Any]]:
    """Give the first items with a name for each, no name twice and none that a fact has."""
    base = _find_base(container)
    if base is not dict:
        return zip(_INDEXES, base.__iter__(container), strict=False)
    named: dict[str, Any] = {}
    # Taken in one step: another thread may be filling the dict.
    for key, item in list(islice(dict.items(container), _MAX_ITEMS)):
        named.setdefault(_name_key(key), item)
    named.pop("", None)
    return named.items()


def _name_key(key: Any) -> str:
    """Give a key as part of a name; empty for what cannot be one."""
    kind = type(key)
    if kind is str:
        name = key[:_MAX_NAME].replace(".", "_")
        name = name if name.isascii() else name.encode("utf-8", "replace").decode()
        return f"{name}_" if name in _RESERVED else name
    is_number = kind is bool or (kind is int and abs(key) < _MAX_INT_NAME)
    return str(key) if is_number else ""
