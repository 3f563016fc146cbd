"""An exception as the facts of an event, without calling the user's code and without keeping the exception."""

import traceback
from types import TracebackType
from typing import Any

from otel_trace.describe.kind import name_kind
from otel_trace.journal.clean import MAX_BYTES, clean_text

_PLAIN = {str, int, float, bool, bytes, type(None)}
_SLOT = type(BaseException.__str__)
_MAX_FRAMES = 40
# Read past whatever a class of the user's has put in their place.
_read_args, _read_traceback, _read_cause, _read_context, _read_suppress = (
    vars(BaseException)[name].__get__
    for name in ("args", "__traceback__", "__cause__", "__context__", "__suppress_context__")
)
_read_mro, _read_dict, _read_name = (vars(type)[name].__get__ for name in ("__mro__", "__dict__", "__name__"))
_MAX_CHAIN = 8


def describe_error(error: BaseException) -> tuple[str, dict[str, Any]]:
    """Give the status message of a failed span and the attributes of its exception event."""
    kind = name_kind(type(error)).removeprefix("builtins.")
    message = read_message(error)
    attributes = {
        "exception.type": clean_text(kind),
        "exception.message": clean_text(message),
        "exception.stacktrace": format_stack(error),
        "exception.escaped": "False",
    }
    return clean_text(f"{_read_name(type(error))}: {message}"), attributes


def read_message(error: BaseException) -> str:
    """Give what `str(error)` would, unless that would run code of the user's."""
    args = _read_args(error)
    is_plain = all(type(arg) in _PLAIN for arg in args)
    try:
        if is_plain and type(_find_str(type(error))) is _SLOT:
            return str(error)
        return BaseException.__str__(error) if is_plain else ", ".join(_name(arg) for arg in args)
    except ValueError:  # an integer of more digits than Python writes
        return ", ".join(f"<{name_kind(type(arg))}>" for arg in args)


def _find_str(kind: type) -> Any:
    """Give what `str` would call for an exception of that type."""
    return next(fields["__str__"] for base in _read_mro(kind) if "__str__" in (fields := _read_dict(base)))


def _name(arg: Any) -> str:
    return str(arg) if type(arg) in _PLAIN else f"<{name_kind(type(arg))}>"


def format_stack(error: BaseException) -> str:
    """Give the traceback as Python prints it, its innermost frames first to be kept."""
    parts: list[str] = []
    seen: BaseException | None = error
    for _ in range(_MAX_CHAIN):
        if seen is None:
            break
        title = f"{name_kind(type(seen)).removeprefix('builtins.')}: {read_message(seen)}".removesuffix(": ")
        parts.insert(0, _format_frames(_read_traceback(seen)) + clean_text(title, MAX_BYTES // 2) + "\n")
        cause = _read_cause(seen)
        seen = cause if cause is not None or _read_suppress(seen) else _read_context(seen)
    return _keep_end("\n".join(parts))


def _format_frames(trace: TracebackType | None) -> str:
    frames = traceback.extract_tb(trace, limit=-_MAX_FRAMES)
    return "Traceback (most recent call last):\n" + "".join(traceback.format_list(frames)) if frames else ""


def _keep_end(text: str) -> str:
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_BYTES:
        return data.decode()
    return "...\n" + data[-(MAX_BYTES - 4) :].decode("utf-8", "ignore")
