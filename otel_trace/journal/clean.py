"""Any attribute value becomes one that msgpack, OTLP and the backends can hold, within a budget.

Numbers that no backend can hold (NaN, infinities, beyond 64 bits) are left out and said in words under one
name; strings are cut at a character; what was dropped is counted. No method of the user's is called, also not
by `isinstance`, which asks an object for its `__class__`.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from otel_trace import names

MAX_BYTES = 2048
MAX_KEY_BYTES = 256
MAX_ATTRIBUTES = 128
_MAX_ARRAY_BYTES = 16 * 1024
_MAX_ALL_BYTES = 384 * 1024
_MAX_DEPTH = 6
_INT64 = 2**63
_qualname = type.__dict__["__qualname__"].__get__
_module = type.__dict__["__module__"].__get__


_Cleaner = Callable[[Any, int, int], tuple[Any, int]]


class _Unrepresentable(ValueError):
    """A number that no backend can hold; the message is the number in words."""


def clean_text(text: str, limit: int = MAX_BYTES) -> str:
    """Give the text in at most `limit` bytes of valid UTF-8, cut at a character."""
    if text.__class__ is not str:
        text = str.__str__(text)
    if text.isascii():
        return text[:limit]
    data = text[:limit].encode("utf-8", "replace")
    return data[:limit].decode("utf-8", "ignore")


def clean_attributes(
    attributes: Mapping[str, Any] | None, limit: int = MAX_ATTRIBUTES
) -> tuple[dict[str, Any], int]:
    """Give the attributes that can be written, and how many were dropped."""
    kept: dict[str, Any] = {}
    words: list[str] = []
    dropped, room = 0, _MAX_ALL_BYTES
    for key, value in (attributes or {}).items():
        name = clean_text(key, MAX_KEY_BYTES) if issubclass(type(key), str) else ""
        if not name or len(kept) >= limit or room <= 0:
            dropped += 1
            continue
        try:
            kept[name], size = _clean(value, _MAX_ARRAY_BYTES, 0)
            room -= size + _size(name)
        except _Unrepresentable as error:
            words.append(clean_text(f"{name}={error}"))
    if words:
        kept[names.UNREPRESENTABLE] = words[:MAX_ATTRIBUTES]
    return kept, dropped


def clean_value(value: Any) -> Any:
    """Give the value with whatever in it can be encoded; a number that cannot is told in words."""
    return _clean_or_say(value, _MAX_ALL_BYTES, 0)[0]


def _clean_or_say(value: Any, room: int, depth: int) -> tuple[Any, int]:
    """Clean a value; a number that nothing can hold is told in words in its place."""
    try:
        return _clean(value, room, depth, _clean_or_say)
    except _Unrepresentable as error:
        return str(error), 60


def _clean(value: Any, room: int, depth: int, clean_item: _Cleaner | None = None) -> tuple[Any, int]:  # noqa: PLR0911 (a table of kinds)
    """Give the clean value and its bytes, or a little more."""
    kind = type(value)
    if value is None or kind is bool:
        return value, 1
    if issubclass(kind, int):
        return _clean_int(value), 9
    if issubclass(kind, float):
        return _clean_float(value), 9
    if issubclass(kind, str):
        text = clean_text(value)
        return text, _size(text)
    if issubclass(kind, bytes):
        data = bytes.__getitem__(value, slice(MAX_BYTES))
        return data, len(data) + 3
    if depth < _MAX_DEPTH and issubclass(kind, (list, tuple)):
        return _clean_items(value, room, depth, clean_item or _clean)
    if depth < _MAX_DEPTH and issubclass(kind, dict):
        return _clean_map(value, room, depth, clean_item or _clean)
    text = name_type(kind)
    return text, _size(text)


def _size(text: str) -> int:
    return 3 + (len(text) if text.isascii() else len(text.encode()))


def name_type(kind: type) -> str:
    """Give the name of a type, from its stored fields."""
    name = str.__str__(_qualname(kind))
    try:
        module = _module(kind)
    except AttributeError:
        return clean_text(name)
    return clean_text(f"{module}.{name}" if type(module) is str else name)


def _clean_int(value: int) -> int:
    number = int.__index__(value)
    if -_INT64 <= number < _INT64:
        return number
    raise _Unrepresentable(
        str(number) if abs(number) < 10**40 else f"an integer of {number.bit_length()} bits"
    )


def _clean_float(value: float) -> float:
    number = float.__float__(value)
    if math.isfinite(number):
        return number
    raise _Unrepresentable("NaN" if number != number else "Infinity" if number > 0 else "-Infinity")  # noqa: PLR0124


def _clean_items(value: Any, room: int, depth: int, clean_item: _Cleaner) -> tuple[list[Any], int]:
    items: list[Any] = []
    size = 5
    for item in list.__iter__(value) if issubclass(type(value), list) else tuple.__iter__(value):
        if size >= room:
            break
        clean, num_bytes = clean_item(item, room - size, depth + 1)
        items.append(clean)
        size += num_bytes
    return items, size


def _clean_map(
    value: dict[Any, Any], room: int, depth: int, clean_item: _Cleaner
) -> tuple[dict[str, Any], int]:
    items: dict[str, Any] = {}
    size = 5
    for key, item in list(dict.items(value)):
        if size >= room:
            break
        clean, num_bytes = clean_item(item, room - size, depth + 1)
        name = clean_text(key, MAX_KEY_BYTES) if issubclass(type(key), str) else name_type(type(key))
        items[name] = clean
        size += num_bytes + _size(name)
    return items, size
