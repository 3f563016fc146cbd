"""Make any text from a run safe to print: one line, bounded, without control characters.

What a training program records ends up on a terminal here. A newline would tear the tree, an escape would colour or
retitle the terminal, a bidirectional override would reorder the line, a lone surrogate would stop the output.
"""

from collections.abc import Sequence
from typing import Any

MAX_VALUE = 60
_MAX_ITEMS = 8


def clean_text(text: str, max_chars: int = MAX_VALUE) -> str:
    """Return `text` with what cannot be printed as an escape, cut to `max_chars`."""
    head = text[: max_chars + 1]
    if not head.isprintable():
        head = "".join(ch if ch.isprintable() else _escape(ch) for ch in head)
    return head if len(head) <= max_chars else f"{head[: max_chars - 3]}..."


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def format_value(value: Any, max_chars: int = MAX_VALUE) -> str:
    """Return an attribute's value as one short piece of text: strings in quotes, floats with six digits."""
    if isinstance(value, str):
        return f"'{clean_text(value, max_chars)}'"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return clean_text(_format_items(value), max_chars)
    return clean_text(str(value), max_chars)


def _format_items(values: Sequence[Any]) -> str:
    shown = ", ".join(format_value(item) for item in values[:_MAX_ITEMS])
    return f"[{shown}{', ...' if len(values) > _MAX_ITEMS else ''}]"
