"""The small parts of OTLP JSON: ids, times, enums, attributes.

What differs between writers is taken as it comes: ids are hex or base64 and told apart by their length, int64 are
strings or numbers, enums are names or numbers, and what is zero or empty may be left out.
"""

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any

from otel_trace import names

_JAEGERS_OWN = "@jaeger@"
_OURS = (names.PARAM, f"{names.RETURN}.", "watch.", "variable.")


def read_id(text: str, num_bytes: int) -> str:
    """Return an id of so many bytes as hex; raises ValueError for anything else."""
    data = bytes.fromhex(text) if len(text) == 2 * num_bytes else base64.b64decode(text, validate=True)
    if len(data) != num_bytes:
        raise ValueError(f"an id of {num_bytes} bytes has {len(data)}")
    return data.hex()


def read_parent(text: str) -> str | None:
    """Return the id of a parent, None where there is none or it is zero."""
    span_id = read_id(text, 8) if text else ""
    return span_id if span_id.strip("0") else None


def read_enum(value: int | str, known: Sequence[str], prefix: str) -> int:
    """Return the number of an enum value that is a number, a number as text, or a name."""
    if isinstance(value, str) and value.startswith(prefix):
        return known.index(value.removeprefix(prefix).lower())
    return int(value)


def read_attributes(holder: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span, event, link or resource; what Jaeger adds of its own is left out."""
    found = {}
    for pair in holder.get("attributes") or ():
        key = str(pair.get("key", ""))
        if not key.startswith(_JAEGERS_OWN):
            found[key] = _mend_shape(key, read_value(pair.get("value") or {}))
    return found


def _mend_shape(key: str, value: Any) -> Any:
    """Return a tensor's shape as a list: a Jaeger on badger keeps arrays as text."""
    if isinstance(value, str) and key.endswith(names.SHAPE) and key.startswith(_OURS):
        try:
            shape = json.loads(value)
        except ValueError:
            return value
        return shape if isinstance(shape, list) else value
    return value


def read_value(value: dict[str, Any]) -> Any:
    """Return one attribute value; an empty one is None."""
    for kind, content in value.items():
        if kind in _READERS:
            return _READERS[kind](content)
    return None


def _read_array(content: dict[str, Any]) -> list[Any]:
    return [read_value(item) for item in content.get("values") or ()]


def _read_map(content: dict[str, Any]) -> dict[str, Any]:
    return {
        str(pair.get("key", "")): read_value(pair.get("value") or {}) for pair in content.get("values") or ()
    }


_READERS: dict[str, Callable[[Any], Any]] = {
    "stringValue": str,
    "boolValue": bool,
    "intValue": int,
    "doubleValue": float,
    "arrayValue": _read_array,
    "kvlistValue": _read_map,
    "bytesValue": base64.b64decode,
}
