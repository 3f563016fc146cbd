"""Say what a span carries in short pieces: `x=float32[8, 16] cpu`, `lr=0.1`, `loss=0.27`, `-> 0.31`.

A tensor is its summary; the shape, dtype and device that the summary repeats are left out, and so is what the view says
elsewhere (step, stage, rank, the code line). Nothing else is left out: an attribute of any other name is shown as it is.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from otel_trace import names
from otel_trace.view.plain import clean_text, format_value
from otel_trace.view.values import format_fact, read_values, say_name

MAX_PIECES = 12
_WATCH = "watch."
_FACTS = (names.SHAPE, names.DTYPE, names.DEVICE)
_ELSEWHERE = ("training.", "code.", "thread.", "otel_trace.", "exception.")


def list_details(attributes: Mapping[str, Any], *, max_pieces: int | None = MAX_PIECES) -> list[str]:
    """Return the pieces of a span's line: parameters, watched values, the rest, what it returned."""
    shown = {key: value for key, value in attributes.items() if _is_shown(key, attributes)}
    pieces = [
        *_list_values(shown, names.PARAM),
        *_list_values(shown, _WATCH),
        *_list_others(shown, attributes),
        *_list_unrepresentable(attributes),
        *_list_return(shown),
    ]
    if max_pieces is None or len(pieces) <= max_pieces:
        return pieces
    return [*pieces[: max_pieces - 1], f"(+{len(pieces) - max_pieces + 1} values)"]


def _is_shown(key: str, attributes: Mapping[str, Any]) -> bool:
    if key.startswith(_ELSEWHERE):
        return False
    owner, dot, fact = key.rpartition(".")
    return dot + fact not in _FACTS or owner + names.SUMMARY not in attributes


def _list_values(shown: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for path, text in read_values(shown, prefix).items():
        yield f"{say_name(path)}={text}"


def _list_others(shown: Mapping[str, Any], attributes: Mapping[str, Any]) -> Iterator[str]:
    for key, value in shown.items():
        if key.startswith((names.PARAM, _WATCH, names.RETURN + ".")):
            continue
        owner = key.removesuffix(names.SUMMARY)
        if owner + names.SHAPE in attributes:
            yield f"{clean_text(owner)}={format_fact(key, value)}"
        else:
            yield f"{clean_text(key)}={format_value(value)}"


def _list_return(shown: Mapping[str, Any]) -> Iterator[str]:
    returned = {key: value for key, value in shown.items() if key.startswith(names.RETURN + ".")}
    arrow = "-> "
    for path, text in read_values(returned, names.RETURN).items():
        if text != "None":
            name = say_name(path.removesuffix(".value")).removeprefix(".")
            yield f"{arrow}{name}={text}" if name else f"{arrow}{text}"
            arrow = ""


def _list_unrepresentable(attributes: Mapping[str, Any]) -> Iterator[str]:
    """Yield the numbers that could not be kept as numbers: `watch.loss=NaN` is shown as `loss=NaN`."""
    entries = attributes.get(names.UNREPRESENTABLE, ())
    for entry in entries if isinstance(entries, list | tuple) else [entries]:
        yield clean_text(str(entry).removeprefix(names.PARAM).removeprefix(_WATCH))
