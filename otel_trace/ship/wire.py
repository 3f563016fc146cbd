"""The protobuf wire format, as far as OTLP needs it: written by hand, since it costs a quarter of the message classes.

An attribute that comes again (and nearly all do) is encoded once.
"""

from collections.abc import Callable
from struct import Struct
from typing import Any

_DOUBLE = Struct("<d").pack
_FIXED64 = Struct("<Q").pack
_MAX_KNOWN = 50_000
_MAX_KNOWN_BYTES = 512
MASK = 2**64 - 1
_known: dict[Any, bytes] = {}
_SMALL = [bytes([number]) for number in range(128)]

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(number: int) -> bytes:
    """Give a number of 64 bits, small ones in few bytes."""
    if 0 <= number < 128:
        return _SMALL[number]
    number &= MASK
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def tag(field: int, kind: int) -> bytes:
    """Give what stands before a field."""
    return varint(field << 3 | kind)


def block(prefix: bytes, data: bytes) -> bytes:
    """Give a field of bytes, text or a message."""
    return prefix + varint(len(data)) + data


def text(prefix: bytes, value: str) -> bytes:
    """Give a text field; what is no valid text becomes question marks."""
    return block(prefix, value.encode("utf-8", "replace"))


def known_text(prefix: bytes, value: str) -> bytes:
    """Give a text field that is likely to come again, as the name of a span."""
    known = _known.get((prefix, value))
    return known if known is not None else _remember((prefix, value), text(prefix, value))


def _remember(key: Any, data: bytes) -> bytes:
    if len(data) < _MAX_KNOWN_BYTES:
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        _known[key] = data
    return data


def fixed64(prefix: bytes, number: int) -> bytes:
    """Give a time."""
    return prefix + _FIXED64(number & MASK)


_KEY, _VALUE = tag(1, BYTES), tag(2, BYTES)
_STRING, _BOOL, _INT, _FLOAT = tag(1, BYTES), tag(2, VARINT), tag(3, VARINT), tag(4, FIXED64)
_ARRAY, _MAP, _BLOB, _ITEM = tag(5, BYTES), tag(6, BYTES), tag(7, BYTES), tag(1, BYTES)


_SCALARS: dict[type, Callable[[Any], bytes]] = {
    str: lambda value: text(_STRING, value),
    bool: lambda value: _BOOL + _SMALL[value],
    int: lambda value: _INT + varint(value),
    float: lambda value: _FLOAT + _DOUBLE(value),
    bytes: lambda value: block(_BLOB, value),
}


def any_value(value: Any) -> bytes:
    """Give an AnyValue; None is an empty one."""
    scalar = _SCALARS.get(type(value))
    if scalar is not None:
        return scalar(value)
    if isinstance(value, list):
        return block(_ARRAY, b"".join([block(_ITEM, any_value(item)) for item in value]))
    if isinstance(value, dict):
        return block(
            _MAP, b"".join([block(_ITEM, key_value(str(name), item)) for name, item in value.items()])
        )
    return b""


def key_value(name: str, value: Any) -> bytes:
    """Give a KeyValue."""
    return text(_KEY, name) + block(_VALUE, any_value(value))


def attributes(prefix: bytes, values: dict[str, Any]) -> bytes:
    """Give a repeated field of attributes."""
    return b"".join([_attribute(prefix, name, value) for name, value in values.items()])


def _attribute(prefix: bytes, name: str, value: Any) -> bytes:
    kind = type(value)
    if kind is float or kind is bytes or kind is dict:
        return block(prefix, key_value(name, value))
    # 1, 1.0 and True are equal, so the kinds belong to the key.
    key = (name, prefix, kind, (*value, *map(type, value)) if kind is list else value)
    try:
        known = _known.get(key)
    except TypeError:  # a list of lists
        return block(prefix, key_value(name, value))
    return known if known is not None else _remember(key, block(prefix, key_value(name, value)))
