"""Put described values back together: a path and a short text for each, small lists as one.

A parameter `batch` of two tensors is on the wire `param.batch.length = 2`, `param.batch.0.summary = ...`, and so on; it
reads `batch=[float32[8, 16] cpu, int64[8] cpu]` here where that fits, and `len(batch)=2  batch.0=...` where not.
"""

from collections.abc import Mapping
from typing import Any

from otel_trace import names
from otel_trace.view.plain import clean_text, format_value

_MAX_LIST = 60


def read_values(attributes: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """Return the values whose names begin with `prefix`: what follows it, and their text."""
    texts = {
        key.removeprefix(prefix).removesuffix(names.SUMMARY).removesuffix(names.TYPE): format_fact(key, value)
        for key, value in attributes.items()
        if key.startswith(prefix)
    }
    lengths = [path for path in texts if path.endswith(names.LENGTH)]
    for path in sorted(lengths, key=len, reverse=True):
        texts = _fold_items(texts, path.removesuffix(names.LENGTH))
    return texts


def format_fact(key: str, value: Any) -> str:
    """Return the text of one attribute: a summary and a type stand without quotes."""
    if isinstance(value, str) and key.endswith(names.TYPE):
        return clean_text(_shorten_type(value))
    is_summary = isinstance(value, str) and key.endswith(names.SUMMARY)
    return clean_text(value) if is_summary else format_value(value)


def say_name(path: str) -> str:
    """Return how a path reads: `x`, `batch.0`, `len(batch)`."""
    if not path.endswith(names.LENGTH):
        return clean_text(path)
    owner = path.removesuffix(names.LENGTH).removeprefix(".")
    return f"len({clean_text(owner)})" if owner else "len"


def _fold_items(texts: dict[str, str], owner: str) -> dict[str, str]:
    """Return `texts` with the items of `owner` as one list, where all are known and short."""
    length = texts[owner + names.LENGTH]
    if not (length.isascii() and length.isdecimal() and len(length) == 1):
        return texts
    paths = [f"{owner}.{index}" for index in range(int(length))]
    text = f"[{', '.join(texts.get(path, '') for path in paths)}]"
    if len(text) > _MAX_LIST or not all(path in texts for path in paths):
        return texts
    kept = {path: old for path, old in texts.items() if path not in paths}
    return {owner if path == owner + names.LENGTH else path: old for path, old in kept.items()} | {
        owner: text
    }


def _shorten_type(name: str) -> str:
    return "None" if name == "builtins.NoneType" else f"<{name.rpartition('.')[2]}>"
