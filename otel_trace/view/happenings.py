"""Say what happened in an event: a variable's change, an exception, or anything else by name and attributes."""

from collections.abc import Mapping
from typing import Any

from otel_trace import names
from otel_trace.journal.spans import EventData
from otel_trace.view.details import list_details
from otel_trace.view.facts import ErrorFacts, describe_exception, find_place, is_exception
from otel_trace.view.plain import clean_text, format_value

CHANGE = "variable.change"
_MAX_MESSAGE = 300


def list_event_words(event: EventData, file: object = None) -> list[str]:
    """Return the pieces of an event's line; `file` is where the code of its span stands."""
    if is_exception(event):
        return _list_exception(event)
    if event.name == CHANGE:
        return _list_change(event.attributes, file)
    return [clean_text(event.name), *list_details(event.attributes)]


def say_error(error: ErrorFacts, *, is_short: bool = False) -> str:
    """Return `! ValueError: the message`, or only the type where the message is said elsewhere."""
    kind, message = clean_text(error.kind), clean_text(error.message, _MAX_MESSAGE)
    if is_short and kind:
        return f"! {kind}"
    if kind and message and not message.startswith(kind):
        return f"! {kind}: {message}"
    return f"! {message or kind or 'error'}"


def _list_exception(event: EventData) -> list[str]:
    error = describe_exception(event)
    return [say_error(error), f"({clean_text(error.place)})"] if error.place else [say_error(error)]


def _list_change(values: Mapping[str, Any], file: object) -> list[str]:
    pieces = [f"{clean_text(str(values.get('variable.name', '?')))} = {_describe_variable(values)}"]
    if "variable.previous" in values:
        pieces.append(f"(was {_format_text(values['variable.previous'])})")
    place = find_place({names.FILE: file, **values})
    return [*pieces, f"({clean_text(place)})"] if place else pieces


def _describe_variable(values: Mapping[str, Any]) -> str:
    for key in ("variable.value", "variable.summary"):
        if key in values:
            return _format_text(values[key])
    shape = values.get("variable.shape")
    if shape is None:
        return _format_text(values.get("variable.type", "?"))
    facts = f"{values.get('variable.dtype', '')}{format_value(shape)} {values.get('variable.device', '')}"
    return clean_text(facts.strip())


def _format_text(value: Any) -> str:
    return clean_text(value) if isinstance(value, str) else format_value(value)
