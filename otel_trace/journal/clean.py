"""Any attribute value becomes one that msgpack, OTLP and the backends can hold, within a budget.

Numbers that no backend can hold (NaN, infinities, beyond 64 bits) are left out and said in words under one
name; strings are cut at a character; what was dropped is counted. No method of the user's is called.
"""

import math
from collections.abc import Mapping
from typing import Any

from otel_trace import names

MAX_BYTES = 2048
MAX_KEY_BYTES = 256
MAX_ATTRIBUTES = 128
_MAX_ARRAY_BYTES = 16 * 1024
_MAX_ALL_BYTES = 384 * 1024
_MAX_DEPTH = 6
_INT64 = 2**63


class _Unrepresentable(ValueError):
    """A number that no backend can hold; the message is the number in words."""


def clean_text(text: str, limit: int = MAX_BYTES) -> str:
    """Give the text in at most `limit` bytes of valid UTF-8, cut at a character."""
    if text.__class__ is not str:
        text = str.__str__(text)
    if len(text) * 4 <= limit and text.isascii():
        return text
    data = text[:limit].encode("utf-8", "replace")
    return data[:limit].decode("utf-8", "ignore")


def clean_attributes(attributes: Mapping[str, Any] | None, limit: int = MAX_ATTRIBUTES) -> tuple[dict[str, Any], int]:
    """Give the attributes that can be written, and how many were dropped."""
    kept: dict[str, Any] = {}
    words: list[str] = []
    dropped, room = 0, _MAX_ALL_BYTES
    for key, value in (attributes or {}).items():
        name = clean_text(key, MAX_KEY_BYTES) if isinstance(key, str) else ""
        if not name or len(kept) >= limit or room <= 0:
            dropped += 1
            continue
        try:
            kept[name], size = _clean(value, _MAX_ARRAY_BYTES, 0)
            room -= size + len(name)
        except _Unrepresentable as error:
            words.append(clean_text(f"{name}={error}"))
    if words:
        kept[names.UNREPRESENTABLE] = words[:MAX_ATTRIBUTES]
    return kept, dropped


def _clean(value: Any, room: int, depth: int) -> tuple[Any, int]:
    """Give the clean value and roughly its bytes."""
    if value is None or value is True or value is False:
        return value, 1
    if isinstance(value, int):
        return _clean_int(value), 9
    if isinstance(value, float):
        return _clean_float(value), 9
    if isinstance(value, str):
        text = clean_text(value)
        return text, len(text) + 3
    if isinstance(value, bytes):
        return bytes.__getitem__(value, slice(MAX_BYTES)), min(len(value), MAX_BYTES)
    if depth < _MAX_DEPTH and isinstance(value, (list, tuple)):
        return _clean_items(value, room, depth)
    if depth < _MAX_DEPTH and isinstance(value, dict):
        return _clean_map(value, room, depth)
    kind = type(value)
    return clean_text(f"{kind.__module__}.{kind.__qualname__}"), 40


def _clean_int(value: int) -> int:
    number = int.__index__(value)
    if -_INT64 <= number < _INT64:
        return number
    raise _Unrepresentable(str(number) if abs(number) < 10**40 else f"an integer of {number.bit_length()} bits")


def _clean_float(value: float) -> float:
    number = float.__float__(value)
    if math.isfinite(number):
        return number
    raise _Unrepresentable("NaN" if number != number else "Infinity" if number > 0 else "-Infinity")


def _clean_items(value: Any, room: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    size = 3
    for item in list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value):
        if size >= room:
            break
        clean, num_bytes = _clean(item, room - size, depth + 1)
        items.append(clean)
        size += num_bytes
    return items, size


def _clean_map(value: dict[Any, Any], room: int, depth: int) -> tuple[dict[str, Any], int]:
    items: dict[str, Any] = {}
    size = 3
    for key, item in dict.items(value):
        if size >= room:
            break
        clean, num_bytes = _clean(item, room - size, depth + 1)
        name = clean_text(key if isinstance(key, str) else type(key).__name__, MAX_KEY_BYTES)
        items[name] = clean
        size += num_bytes + len(name)
    return items, size
