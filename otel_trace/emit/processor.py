"""The journal as a span processor of the SDK: ordinary spans, of the program or of any library.

Their start is durable when they start and their end when they end, with the events and links of the time
between. A span that was open at a fork belongs to the parent: the child does not end it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from opentelemetry import context as context_api
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import SpanContext, SpanKind
from opentelemetry.trace.status import Status

from otel_trace._guard import report_failure
from otel_trace.emit.site import Site
from otel_trace.journal.clean import clean_attributes, clean_text
from otel_trace.journal.writer import Writer

_KINDS = {kind: number for number, kind in enumerate(SpanKind)}
_INT64 = 2**63
_MAX_SCOPES = 1000


class JournalProcessor(SpanProcessor):
    """Writes every sampled span of a provider into the journal."""

    def __init__(self, writer: Writer, flush: Callable[[float], bool] | None = None) -> None:
        self.writer = writer
        self._flush = flush
        self._open: dict[int, int] = {}
        self._sites: dict[Any, Site] = {}

    def on_start(self, span: Span, parent_context: context_api.Context | None = None) -> None:
        try:
            if span.context.trace_flags.sampled:
                self._write_start(span)
        except Exception as error:
            report_failure("the start of a span", error)

    def on_end(self, span: ReadableSpan) -> None:
        try:
            context = span.get_span_context()
            num_links = self._open.pop(context.span_id, None) if context else None
            if context is not None and num_links is not None:
                write_events(self.writer, context.span_id, span)
                write_links(self.writer, context.span_id, span, num_links)
                write_end(self.writer, context.span_id, span)
        except Exception as error:
            report_failure("the end of a span", error)

    def _write_start(self, span: Span) -> None:
        context = span.context
        attributes, _ = clean_attributes(span.attributes)
        more = {"n": clean_text(str(span.name)), "k": _KINDS.get(span.kind, 0), "a": attributes}
        if context.trace_state:
            more["t"] = context.trace_state.to_header()
        if span.parent is not None and span.parent.is_remote:
            more["r"] = True
        parent = span.parent.span_id if span.parent is not None else None
        trace = context.trace_id.to_bytes(16, "big")
        is_written = self.writer.start(
            self._site(span), trace, context.span_id, parent, clean_time(span.start_time), [], None, more
        )
        if is_written:
            self._open[context.span_id] = len(span.links)
            write_links(self.writer, context.span_id, span, 0)

    def _site(self, span: Span) -> Site:
        scope = span.instrumentation_scope
        site = self._sites.get(scope)
        if site is None:
            site = (
                Site("", scope.name, version=scope.version, schema_url=scope.schema_url)
                if scope
                else Site("", "")
            )
            if len(self._sites) < _MAX_SCOPES:
                self._sites[scope] = site
        return site

    def shutdown(self) -> None:
        self.writer.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self.writer.flush() if self._flush is None else self._flush(timeout_millis / 1000)

    def after_fork(self) -> None:
        """Go on in a forked child, where no span has started yet."""
        self._open = {}


def clean_time(time: Any) -> int:
    """Give a time that can be written."""
    return min(max(int(time or 0), 0), _INT64 - 1)


def write_events(writer: Writer, span_id: int, span: ReadableSpan) -> None:
    """Write the events that a span has gathered."""
    for event in span.events:
        writer.event(span_id, clean_time(event.timestamp), str(event.name), event.attributes)


def write_links(writer: Writer, span_id: int, span: ReadableSpan, already: int) -> None:
    """Write the links beyond those already written."""
    for link in span.links[already:]:
        write_link(writer, span_id, link.context, link.attributes)


def write_link(
    writer: Writer, span_id: int, context: SpanContext, attributes: Mapping[str, Any] | None
) -> None:
    """Write one link."""
    writer.link(span_id, context.trace_id.to_bytes(16, "big"), context.span_id, attributes)


def write_end(writer: Writer, span_id: int, span: ReadableSpan) -> None:
    """Write the end of a span with all that may have changed since its start."""
    attributes, dropped = clean_attributes(span.attributes)
    more: dict[str, Any] = {"n": clean_text(str(span.name)), "a": attributes}
    lost = (span.dropped_attributes + dropped, span.dropped_events, span.dropped_links)
    if any(lost):
        more["d"] = lost
    if not span.status.is_unset:
        more["s"] = pack_status(span.status)
    writer.end(span_id, clean_time(span.end_time), None, more)


def pack_status(status: Status) -> tuple[int, str]:
    """Give a status as it is written."""
    return status.status_code.value, clean_text(str(status.description or ""))
