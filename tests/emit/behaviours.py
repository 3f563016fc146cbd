"""What a program may do to the current span: each is done to a fast span and to one of the SDK's."""

from __future__ import annotations

import contextlib
from typing import Any

from opentelemetry.trace import Link, SpanContext, TraceFlags
from opentelemetry.trace.status import Status, StatusCode

OTHER = SpanContext(0xABC, 0xDEF, is_remote=True, trace_flags=TraceFlags(1))
INVALID = SpanContext(0, 0, is_remote=False)


def do_nothing(span: Any) -> None:
    """Leave the span alone."""


def set_attributes(span: Any) -> None:
    """Set values of every type, one by one and many at once."""
    span.set_attribute("text", "a")
    span.set_attribute("flag", True)
    span.set_attribute("param.x", 6)
    span.set_attributes({"number": 1.5, "list": [1, 2], "tuple": ("a", "b"), "bytes": b"\x00\x01"})


def set_invalid_attributes(span: Any) -> None:
    """Set what is no attribute."""
    span.set_attribute("", 1)
    span.set_attribute("object", object)
    span.set_attribute("none", None)


def set_too_many_attributes(span: Any) -> None:
    """Set more attributes than a span holds."""
    for number in range(150):
        span.set_attribute(f"key{number}", number)


def add_events(span: Any) -> None:
    """Add events with and without attributes and times."""
    span.add_event("bare")
    span.add_event("full", {"a": 1, "b": [1.5]}, timestamp=12)


def add_too_many_events(span: Any) -> None:
    """Add more events than a span holds."""
    for number in range(128):
        span.add_event(f"event{number}", {"n": number})


def add_links(span: Any) -> None:
    """Link to other spans, also to an invalid one."""
    span.add_link(OTHER, {"why": "test"})
    span.add_link(INVALID)
    span.add_link(OTHER)


def rename(span: Any) -> None:
    """Give the span another name."""
    span.update_name("renamed")


def set_error(span: Any) -> None:
    """Set an error, then try to unset it."""
    span.set_status(StatusCode.ERROR, "bad")
    span.set_status(StatusCode.UNSET)


def set_ok(span: Any) -> None:
    """Set OK, which nothing changes."""
    span.set_status(Status(StatusCode.OK))
    span.set_status(StatusCode.ERROR, "too late")


def set_status_twice(span: Any) -> None:
    """Set an error, then another one."""
    span.set_status(Status(StatusCode.ERROR, "first"))
    span.set_status(Status(StatusCode.ERROR, "second"))


def describe_status_twice(span: Any) -> None:
    """Give a description beside a status that has one."""
    span.set_status(Status(StatusCode.ERROR, "kept"), "ignored")


def record_exception(span: Any) -> None:
    """Record an exception that was handled."""
    span.record_exception(KeyError("k"), {"extra": 1}, timestamp=5, escaped=False)


def end_early(span: Any) -> None:
    """End the span, then go on with it."""
    span.set_attribute("before", 1)
    span.end()
    span.set_attribute("after", 1)
    span.add_event("after")
    span.update_name("after")
    span.set_status(StatusCode.ERROR)
    span.add_link(OTHER)
    span.end()


def end_at_a_time(span: Any) -> None:
    """End the span at a time of the program's."""
    span.end(end_time=2**62)


def use_as_block(span: Any) -> None:
    """Use the span as a context manager, which ends it."""
    with span:
        span.set_attribute("inside", True)


def fail_in_block(span: Any) -> None:
    """Leave the span's block with an exception."""
    with contextlib.suppress(ValueError), span:
        raise ValueError("in block")


def read_everything(span: Any) -> None:
    """Look at every field, which changes none."""
    span.to_json()
    repr(span)
    _ = span.attributes, span.events, span.links, span.status, span.resource, span.instrumentation_scope
    _ = span.name, span.kind, span.parent, span.context, span.start_time, span.end_time, span.is_recording()


def reuse_link(span: Any) -> None:
    """Read the context, as an instrumentation does to link to the span."""
    Link(span.get_span_context(), {"a": 1})
    span.set_attribute("span_id_bits", span.get_span_context().span_id.bit_length() <= 64)


ALL = [
    do_nothing,
    set_attributes,
    set_invalid_attributes,
    set_too_many_attributes,
    add_events,
    add_too_many_events,
    add_links,
    rename,
    set_error,
    set_ok,
    set_status_twice,
    describe_status_twice,
    record_exception,
    end_early,
    end_at_a_time,
    use_as_block,
    fail_in_block,
    read_everything,
    reuse_link,
]
