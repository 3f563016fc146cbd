"""Answer questions about one span: which rank, step and stage, how long, which error, where in the code."""

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from otel_trace import names
from otel_trace.journal.spans import EventData, ProcessData, SpanData

_FRAME = re.compile(r'^\s*File "([^"\n]+)", line (\d+), in (.+)$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ErrorFacts:
    """What went wrong in a span, and the code line if it is known."""

    kind: str
    message: str
    place: str

    def is_same_as(self, other: "ErrorFacts | None") -> bool:
        """Tell whether `other` is this error, seen from another span on its way up."""
        return other is not None and (self.kind, self.message) == (other.kind, other.message)


def get_rank(process: ProcessData) -> int | None:
    """Return the rank of a process, or None outside distributed training."""
    return _as_int(process.resource.get(names.RANK))


def get_world_size(process: ProcessData) -> int | None:
    """Return how many ranks the process was told there are."""
    return _as_int(process.resource.get(names.WORLD_SIZE))


def get_step(span: SpanData) -> int | None:
    """Return the number of the step that the span belongs to."""
    return _as_int(span.attributes.get(names.STEP))


def get_loop(span: SpanData) -> str:
    """Return the name of the loop that the span belongs to, empty when it has none."""
    return _as_text(span.attributes.get(names.LOOP))


def get_stage(span: SpanData) -> str:
    """Return the stage that the span belongs to, empty when it has none."""
    return _as_text(span.attributes.get(names.STAGE))


def get_elapsed_ns(span: SpanData, now_ns: int) -> int:
    """Return how long the span took, or has taken so far, or took until its process was last heard of."""
    if span.end_ns is not None:
        return span.end_ns - span.start_ns
    if span.is_interrupted:
        return max(span.last_ns - span.start_ns, 0)
    return max(now_ns - span.start_ns, 0)


def get_last_ns(span: SpanData) -> int:
    """Return the last moment that is known of the span."""
    return max(span.last_ns, span.start_ns) if span.end_ns is None else span.end_ns


def is_notable(span: SpanData) -> bool:
    """Tell whether a reader must see this span: it failed or never ended."""
    return span.status == "error" or span.end_ns is None


def is_exception(event: EventData) -> bool:
    """Tell whether an event records an exception."""
    return event.name == "exception" and "exception.type" in event.attributes


def describe_exception(event: EventData) -> ErrorFacts:
    """Return the type, the message and the innermost code line of an exception event."""
    values = event.attributes
    frames = _FRAME.findall(_as_text(values.get("exception.stacktrace")))
    return ErrorFacts(
        _as_text(values.get("exception.type")),
        _as_text(values.get("exception.message")),
        "{}:{} in {}".format(PurePath(frames[-1][0]).name, *frames[-1][1:]) if frames else "",
    )


def find_error_event(span: SpanData) -> EventData | None:
    """Return the event that holds the exception with which a span failed."""
    if span.status != "error":
        return None
    return next(filter(is_exception, reversed(span.events)), None)


def find_error(span: SpanData) -> ErrorFacts | None:
    """Return the error of a span: its last exception, else its status message, else None."""
    event = find_error_event(span)
    if event is not None:
        return describe_exception(event)
    return ErrorFacts("", span.status_message, "") if span.status == "error" else None


def find_place(attributes: dict[str, Any]) -> str:
    """Return `train.py:12` from the code attributes, or nothing."""
    file, line = attributes.get(names.FILE), attributes.get(names.LINE)
    if not isinstance(file, str):
        return ""
    return f"{PurePath(file).name}:{line}" if line is not None else PurePath(file).name


def _as_int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else ""
