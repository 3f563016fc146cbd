"""An open span as our decorators hold it, whoever's provider made it: finished, or failed, once."""

import contextlib
from typing import Any, Protocol

from opentelemetry import context as context_api
from opentelemetry.trace import NonRecordingSpan, Span, set_span_in_context
from opentelemetry.trace.status import Status, StatusCode

from otel_trace.emit.failure import describe_error
from otel_trace.emit.shared import FACTS_KEY, SharedFacts
from otel_trace.emit.site import expand_result


class OpenCall(Protocol):
    """What a decorator needs of the span it opened."""

    def is_current(self, span: Span) -> bool:
        """Say whether that is the span."""

    def finish(self, result: Any) -> None:
        """End with a described return value."""

    def fail(self, error: BaseException) -> None:
        """End with the exception that left the call."""


class Unsampled(NonRecordingSpan):
    """Current where a trace of ours is not sampled: nothing below it is, without asking the sampler again."""


class PlainCall:
    """An ordinary span of any provider, made current until it ends."""

    __slots__ = ("_span", "_token")

    def __init__(self, span: Span, facts: SharedFacts | None = None) -> None:
        self._span = span
        context = set_span_in_context(span)
        self._token = context_api.attach(
            context if facts is None else context_api.set_value(FACTS_KEY, facts, context)
        )

    def is_current(self, span: Span) -> bool:
        return self._span is span

    def finish(self, result: Any) -> None:
        self._leave()
        if result is not None and self._span.is_recording():
            self._span.set_attributes(expand_result(result))
        self._span.end()

    def fail(self, error: BaseException) -> None:
        if not isinstance(error, Exception):
            self.finish(None)
            return
        self._leave()
        message, attributes = describe_error(error)
        if self._span.is_recording():
            self._span.add_event("exception", attributes)
            self._span.set_status(Status(StatusCode.ERROR, message))
        self._span.end()

    def _leave(self) -> None:
        with contextlib.suppress(ValueError, RuntimeError):
            context_api._RUNTIME_CONTEXT.detach(self._token)
