"""The fast span: a span of the SDK by `isinstance` and by behaviour, made for a tenth of its price.

It begins with what a record needs: a site, ids, a time, described values. The SDK's own fields (lock,
attributes, events, links ...) appear when somebody touches one: a descriptor in the place of each then runs
the SDK's constructor, and from there on the SDK's own methods do what they do for every span. Events and links
go to the journal as they come; an untouched span ends with one short record, a touched one with all its
attributes.

Only our decorators make it, and only where nothing but our journal would see it (see `runtime`).
"""

import contextlib
import os
import threading
from collections.abc import Sequence
from contextvars import ContextVar, Token
from time import monotonic_ns
from typing import Any

from opentelemetry import trace as trace_api
from opentelemetry.context import Context
from opentelemetry.sdk.trace import EventBase, Span, SpanProcessor
from opentelemetry.trace import SpanContext, SpanKind
from opentelemetry.trace.propagation import _SPAN_KEY
from opentelemetry.trace.status import Status, StatusCode

from otel_trace.emit.call import Unsampled
from otel_trace.emit.clock import read_anchor
from otel_trace.emit.failure import describe_error
from otel_trace.emit.ids import draw_bits
from otel_trace.emit.lazy import LazyContext, place_lazy_fields
from otel_trace.emit.processor import write_end, write_link
from otel_trace.emit.shared import FACTS_KEY, NO_FACTS, SharedFacts, TraceShare
from otel_trace.emit.site import Site, expand_result
from otel_trace.journal.clean import clean_attributes

_ANCHOR = read_anchor()
_MAX_EVENTS = 127
_NO_PROCESSOR = SpanProcessor()
_set_item = dict.__setitem__
_new = object.__new__


class _TouchLock:
    """Held while a span gets the SDK's fields; a forked child gets a new one."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self.lock = threading.RLock()


_touching = _TouchLock()


class FastSpan(Span):
    """A span of the SDK that has its fields once they are touched."""

    __slots__ = (
        "_end_time",
        "_ot_error",
        "_ot_events",
        "_ot_extra",
        "_ot_facts",
        "_ot_is_touched",
        "_ot_last_event",
        "_ot_parent",
        "_ot_result",
        "_ot_runtime",
        "_ot_site",
        "_ot_span_id",
        "_ot_token",
        "_ot_trace",
        "_ot_values",
        "_start_time",
    )
    _end_time: int | None
    _ot_error: tuple[str, dict[str, Any], int] | None
    _ot_events: int
    _ot_extra: dict[str, Any] | None
    _ot_facts: SharedFacts | None
    _ot_is_touched: bool
    _ot_last_event: EventBase | None
    _ot_parent: "SpanContext | FastSpan | None"
    _ot_result: Any
    _ot_runtime: Any
    _ot_site: Site
    _ot_span_id: int
    _ot_token: Token[Context]
    _ot_trace: TraceShare
    _ot_values: Sequence[Any]

    def get_span_context(self) -> SpanContext:
        context: Any = self._context
        return context  # type: ignore[no-any-return]

    def is_recording(self) -> bool:
        return self._end_time is None

    def _touch(self) -> None:
        """Run the SDK's constructor over what is known so far."""
        with _touching.lock:
            if self._ot_is_touched:
                return
            start, end, context = self._start_time, self._end_time, self.get_span_context()
            tracer = self._ot_runtime.tracer(self._ot_site)
            parent = self._ot_parent
            attributes = self._ot_site.expand(self._ot_values, self._ot_facts) | (self._ot_extra or {})
            if end is not None:
                attributes |= expand_result(self._ot_result)
            self._ot_events, self._ot_last_event = 0, None
            super().__init__(
                name=self._ot_site.name,
                context=context,
                parent=parent.get_span_context() if isinstance(parent, Span) else parent,
                sampler=tracer.sampler,
                resource=tracer.resource,
                attributes=attributes,
                kind=SpanKind.INTERNAL,
                span_processor=_NO_PROCESSOR,
                instrumentation_info=tracer.instrumentation_info,
                limits=tracer._span_limits,
                instrumentation_scope=tracer._instrumentation_scope,
            )
            self._start_time = start
            if self._ot_error is not None:
                self._show_error(self._ot_error)
            if end is not None:
                self._end_time = end
                fields: Any = self._attributes
                fields._immutable = True
            self._ot_is_touched = True

    def _show_error(self, error: tuple[str, dict[str, Any], int]) -> None:
        """Give a span that failed untouched the event and the status it would have had."""
        message, attributes, time = error
        super().add_event("exception", attributes, time)
        self._status = Status(StatusCode.ERROR, message)

    def set_attribute(self, key: str, value: Any) -> None:
        """Keep a few plain values aside where the limits are the usual ones; else do as the SDK does."""
        kind = type(value)  # compared by identity: a set would ask its metaclass
        is_plain = (kind is str or kind is float or kind is int or kind is bool) and type(key) is str and key
        extra = self._ot_extra or {}
        is_open = not self._ot_is_touched and self._end_time is None
        if is_open and is_plain and len(extra) < self._ot_runtime.max_extra:
            extra[key] = value
            self._ot_extra = extra
        else:
            super().set_attribute(key, value)

    # What the SDK's methods call, and the journal must hear of.

    def _add_event(self, event: EventBase) -> None:
        was_recording = self._end_time is None
        super()._add_event(event)
        if not was_recording or not self._ot_is_touched:
            return
        self._ot_events += 1
        if self._ot_events <= _MAX_EVENTS:
            self._write_event(event)
        else:
            self._ot_last_event = event

    def _write_event(self, event: EventBase) -> None:
        self._ot_runtime.writer.event(self._ot_span_id, event.timestamp, str(event.name), event.attributes)

    def _add_link(self, link: trace_api.Link) -> None:
        was_recording = self._end_time is None
        super()._add_link(link)
        if was_recording:
            write_link(self._ot_runtime.writer, self._ot_span_id, link.context, link.attributes)

    # What our decorators call.

    def is_current(self, span: trace_api.Span) -> bool:
        return self is span

    def finish(self, result: Any) -> None:
        """End the span with a described return value."""
        try:  # noqa: SIM105 (`suppress` costs more than all the rest of this method)
            self._ot_runtime.context.reset(self._ot_token)
        except (ValueError, RuntimeError):
            pass  # opened in another context: that one is left alone
        if self._end_time is not None:
            return
        now = monotonic_ns() + _ANCHOR
        if self._ot_is_touched or self._ot_runtime.others:
            self.set_attributes(expand_result(result))
            self.end(now)
            return
        self._ot_result = result
        self._end_time = now
        if self._ot_extra is None:
            self._ot_runtime.writer.end(self._ot_span_id, now, result)
        else:
            more = {"x": clean_attributes(self._ot_extra)[0]}
            self._ot_runtime.writer.end(self._ot_span_id, now, result, more)

    def fail(self, error: BaseException) -> None:
        """End the span with the exception that left the call; only an `Exception` is an error, as in the SDK."""
        if not isinstance(error, Exception):
            self.finish(None)
            return
        message, attributes = describe_error(error)
        now = monotonic_ns() + _ANCHOR
        with contextlib.suppress(ValueError, RuntimeError):
            self._ot_runtime.context.reset(self._ot_token)
        if self._end_time is not None:
            return
        if self._ot_is_touched or self._ot_runtime.others:
            self.add_event("exception", attributes, now)
            self.set_status(Status(StatusCode.ERROR, message))
            self.end(now)
            return
        writer = self._ot_runtime.writer
        writer.event(self._ot_span_id, now, "exception", attributes)
        more: dict[str, Any] = {"s": (StatusCode.ERROR.value, message)}
        if self._ot_extra is not None:
            more["x"] = clean_attributes(self._ot_extra)[0]
        writer.end(self._ot_span_id, now, None, more)
        self._ot_error = (message, attributes, now)
        self._end_time = now

    def end(self, end_time: int | None = None) -> None:
        was_recording = self._end_time is None
        super().end(end_time)
        if was_recording and self._end_time is not None:
            if self._ot_last_event is not None:
                self._write_event(self._ot_last_event)
            write_end(self._ot_runtime.writer, self._ot_span_id, self)
            for processor in self._ot_runtime.others:
                processor.on_end(self._readable_span())


place_lazy_fields(FastSpan, besides={"_context", "_start_time", "_end_time"})
FastSpan._context = LazyContext()  # type: ignore[assignment]


def open_fast_span(
    runtime: Any,
    site: Site,
    values: Sequence[Any],
    planned: "tuple[TraceShare, SpanContext | None, int | None, int, SharedFacts] | None" = None,
) -> Any:
    """Open a span below the current one, or where it is planned, and make it current.

    When it is not sampled, give what `join_trace` says; None when it was lost.
    """
    variable: ContextVar[Context] = runtime.context
    context = variable.get()
    facts: Any = (inherited := context.get(FACTS_KEY))
    parent: Any = context.get(_SPAN_KEY)
    more = None
    if planned is not None:
        share, parent, parent_id, span_id, facts = planned
    else:
        span_id = draw_bits(64) or 1
        if parent.__class__ is FastSpan and parent._ot_runtime is runtime:
            share, parent_id = parent._ot_trace, parent._ot_span_id
        elif parent.__class__ is Unsampled:
            return None
        else:
            joined = runtime.join_trace(context, parent, site)
            if joined.__class__ is not tuple:
                return joined
            share, parent, parent_id, more = joined
        if site.stage is not None:
            facts = (facts or NO_FACTS).at_stage(site.stage)
    find = runtime.describers.get
    try:
        described = []
        for value in values:  # a comprehension is a call of its own before Python 3.12
            described.append((find(type(value)) or runtime.learn(type(value)))(value))  # noqa: PERF401
    except Exception as error:
        described = runtime.describe_one_by_one(values, error)
    span: FastSpan = _new(FastSpan)
    span._ot_is_touched = False
    span._ot_runtime = runtime
    span._ot_site = site
    span._ot_trace = share
    span._ot_span_id = span_id
    span._ot_parent = parent
    span._ot_values = described
    span._ot_facts = facts
    span._ot_result = span._ot_error = span._ot_extra = None
    span._end_time = None
    span._start_time = now = monotonic_ns() + _ANCHOR
    if not runtime.writer.start(
        site, share.data, span_id, parent_id, now, described, facts, more or share.more
    ):
        return None
    inner = Context(context)
    _set_item(inner, _SPAN_KEY, span)
    if facts is not inherited:
        _set_item(inner, FACTS_KEY, facts)
    span._ot_token = variable.set(inner)
    return span
