"""Lists, tuples and dicts: their length, and what their first items are, within a budget.

Only the built-in iteration of the built-in types is used, so no code of the user's runs. Strings inside are
told by count alone.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from otel_trace import names
from otel_trace.describe.facts import Facts

_MAX_ITEMS = 8
_MAX_FACTS = 32
_MAX_NAME = 64

Describe = Callable[[Any], Any]


def describe_container(value: Any, describe: Describe) -> dict[str, Any]:
    """Describe a list, tuple or dict."""
    facts, items = _open_container(value)
    for name, item in items:
        if not name or isinstance(item, str):
            continue
        if isinstance(item, (list, tuple, dict)):
            facts |= _prefix(f".{name}", _open_container(item)[0])
        else:
            facts |= _prefix(f".{name}", describe(item))
        if len(facts) >= _MAX_FACTS:
            break
    return facts


def _open_container(value: Any) -> tuple[dict[str, Any], Iterator[tuple[str, Any]]]:
    """Give the length of a container and its first items by name."""
    if isinstance(value, dict):
        pairs = islice(dict.items(value), _MAX_ITEMS)
        return {names.LENGTH: dict.__len__(value)}, ((_name_key(key), item) for key, item in pairs)
    base: Any = list if isinstance(value, list) else tuple
    items = islice(base.__iter__(value), _MAX_ITEMS)
    return {names.LENGTH: base.__len__(value)}, ((str(index), item) for index, item in enumerate(items))


def _name_key(key: Any) -> str:
    return str(key)[:_MAX_NAME].replace(".", "_") if type(key) in {str, int, bool} else ""


def _prefix(name: str, description: Any) -> dict[str, Any]:
    facts = description.data if isinstance(description, Facts) else description
    if isinstance(facts, dict):
        return {name + suffix: fact for suffix, fact in facts.items()}
    return {name: facts}
