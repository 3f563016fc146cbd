"""Numbers and strings as themselves, where every backend can hold them."""

import math
from typing import Any

from otel_trace import names

_INT64 = 2**63
_MAX_TEXT = 120


def keep(value: Any) -> Any:
    """Give the value itself."""
    return value


def describe_int(value: int) -> int | dict[str, Any]:
    """Give the number, or what it is when 64 bits cannot hold it."""
    number = int.__index__(value)
    if -_INT64 <= number < _INT64:
        return number
    words = str(number) if abs(number) < 10**40 else f"an integer of {number.bit_length()} bits"
    return {names.IN_WORDS: words}


def describe_float(value: float) -> float | dict[str, Any]:
    """Give the number, or what it is when it is not finite."""
    number = float.__float__(value)
    if number - number == 0.0:
        return number
    return {names.IN_WORDS: "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"}


def describe_complex(value: complex) -> str:
    """Give the number as text."""
    return complex.__repr__(value)


def describe_text(value: str) -> str:
    """Give a short string itself, a long one cut, with its length."""
    text = str.__str__(value)
    if len(text) > _MAX_TEXT:
        text = f"{text[:_MAX_TEXT]}... ({len(text)} characters)"
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
