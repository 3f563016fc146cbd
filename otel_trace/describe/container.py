"""Lists, tuples and dicts: their length, and what their first items are, within a budget.

Level by level, so that a large first item takes nothing from its neighbours. Only the built-in iteration of
the built-in types is used, so no code of the user's runs. Strings inside are told by count alone.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from otel_trace import names
from otel_trace.describe.facts import Facts

_MAX_ITEMS = 8
_MAX_FACTS = 32
_MAX_DEPTH = 3
_MAX_NAME = 64
_MAX_INT_NAME = 10**18
_CONTAINERS = (list, tuple, dict)
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
                if issubclass(kind, _CONTAINERS):
                    below.append((f"{prefix}.{name}", item))
                    told = {names.LENGTH: _measure(item)}
                else:
                    told = _read_facts(describe(item))
                if len(facts) + len(told) > _MAX_FACTS:
                    return facts
                facts.update({f"{prefix}.{name}{suffix}": fact for suffix, fact in told.items()})
        level = below
    return facts


def _measure(container: Any) -> int:
    """Give the length as the built-in type knows it."""
    base: Any = _find_base(container)
    return int(base.__len__(container))


def _find_base(container: Any) -> type:
    return next(base for base in _CONTAINERS if issubclass(type(container), base))


def _name_items(container: Any) -> Iterator[tuple[str, Any]]:
    """Give the first items with a name for each, no name twice and none that a fact has."""
    base: Any = _find_base(container)
    if base is not dict:
        yield from (
            (str(index), item) for index, item in enumerate(islice(base.__iter__(container), _MAX_ITEMS))
        )
        return
    seen = {""}
    # Taken in one step: another thread may be filling the dict.
    for key, item in list(islice(dict.items(container), _MAX_ITEMS)):
        name = _name_key(key)
        if name not in seen:
            seen.add(name)
            yield name, item


def _name_key(key: Any) -> str:
    """Give a key as part of a name; empty for what cannot be one."""
    kind = type(key)
    if kind is str:
        name = key[:_MAX_NAME].replace(".", "_").encode("utf-8", "replace").decode()
        return f"{name}_" if name in _RESERVED else name
    is_number = kind is bool or (kind is int and abs(key) < _MAX_INT_NAME)
    return str(key) if is_number else ""


def _read_facts(description: Any) -> dict[str, Any]:
    """Give a description as facts by suffix, a scalar without one."""
    if isinstance(description, Facts):
        return dict(description.data)
    return description if isinstance(description, dict) else {"": description}
