"""One provider whose spans can be made in two ways, ours and the SDK's, and what each looks like after."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opentelemetry import context as context_api, trace as trace_api
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider, sampling

from otel_trace.emit.processor import JournalProcessor
from otel_trace.emit.runtime import JournalRuntime
from otel_trace.emit.site import Site
from otel_trace.journal.place import measure_place
from otel_trace.journal.spans import SpanData, read_run
from otel_trace.journal.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from opentelemetry.sdk.trace import ReadableSpan, Span

SITE = Site("work", "tests", attributes={"code.line.number": 7}, params=("param.x",))
START = {"code.line.number": 7, "param.x": 5}


class Ended(SpanProcessor):
    """Keeps what the SDK hands to exporters."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)


@dataclass
class Journalled:
    """A provider with a journal in a folder of its own."""

    folder: Path
    sampler: sampling.Sampler = sampling.DEFAULT_ON
    limits: SpanLimits = field(default_factory=SpanLimits)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.writer = Writer(lambda: measure_place(self.folder), lambda _key, _number: {"format": 1})
        self.provider = TracerProvider(
            sampler=self.sampler,
            resource=Resource({"a": 1}),
            span_limits=self.limits,
            shutdown_on_exit=False,
        )
        self.provider.add_span_processor(JournalProcessor(self.writer))
        self.runtime = JournalRuntime(self.provider, None, self.writer, is_sound=True)

    def read(self) -> list[SpanData]:
        """Give the spans of the journal, closed."""
        self.writer.close()
        return read_run(self.folder).spans


def make_ours(journal: Journalled, do: Callable[[Any], object]) -> Span:
    """Do something to a fast span while it is current; give the span."""
    call: Any = journal.runtime.open(SITE, (5,))
    do(trace_api.get_current_span())
    call.finish(None)
    assert isinstance(call, trace_api.Span)
    return call  # type: ignore[return-value]


def make_theirs(journal: Journalled, do: Callable[[Any], object]) -> ReadableSpan:
    """Do the same to a span of the SDK's tracer; give what its processors get."""
    ended = Ended()
    journal.provider.add_span_processor(ended)
    span = journal.provider.get_tracer("tests").start_span("work", attributes=START)
    token = context_api.attach(trace_api.set_span_in_context(span))
    do(span)
    context_api.detach(token)
    if span.is_recording():
        span.end()
    return ended.spans[-1]


def show_span(span: Any) -> dict[str, Any]:
    """Show what an exporter sees of a span, but for ids and the times that the clock gave."""
    return {
        "name": span.name,
        "kind": span.kind,
        "attributes": dict(span.attributes),
        "events": [(event.name, dict(event.attributes or {})) for event in span.events],
        "links": [
            (link.context.trace_id, link.context.span_id, dict(link.attributes)) for link in span.links
        ],
        "status": (span.status.status_code.name, span.status.description),
        "dropped": (span.dropped_attributes, span.dropped_events, span.dropped_links),
        "resource": dict(span.resource.attributes),
        "scope": (span.instrumentation_scope.name, span.instrumentation_scope.version),
        "parent": span.parent,
        "flags": span.context.trace_flags,
        "state": span.context.trace_state,
        "is_recording": span.end_time is None,
    }


def show_data(span: SpanData) -> dict[str, Any]:
    """Show what the journal has of a span, but for ids and the times that the clock gave."""
    return {
        "name": span.name,
        "kind": span.kind,
        "attributes": span.attributes,
        "events": [(event.name, event.attributes) for event in span.events],
        "links": [(link.trace_id, link.span_id, link.attributes) for link in span.links],
        "status": (span.status, span.status_message),
        "dropped": span.dropped,
        "scope": (span.scope, span.scope_version),
        "parent": span.parent_id,
        "is_open": span.is_open,
    }
