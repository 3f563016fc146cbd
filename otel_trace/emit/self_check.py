"""At start, once: does a fast span behave as this SDK's own span does? If not, ordinary spans are made."""

from typing import Any

from opentelemetry import trace as trace_api
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, Tracer, TracerProvider, sampling
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import TraceFlags, TraceState
from opentelemetry.trace.status import Status, StatusCode

from otel_trace.emit.fast_span import FastSpan
from otel_trace.emit.shared import TraceShare
from otel_trace.emit.site import Site

_SITE = Site("otel_trace.self_check", "otel_trace", params=("param.x",))


class _Recorder:
    """Stands in for the journal's writer and the runtime of a span that goes nowhere."""

    def __init__(self, tracer: Tracer) -> None:
        self.writer = self
        self.calls: list[str] = []
        self.others = ()
        self.max_extra = 0
        self.tracer = lambda _site: tracer

    def event(self, *record: Any) -> None:
        self.calls.append("event")

    def link(self, *record: Any) -> None:
        self.calls.append("link")

    def end(self, *record: Any) -> None:
        self.calls.append("end")


class _Keeper(SpanProcessor):
    """Keeps the ended span of the SDK."""

    def on_end(self, span: Any) -> None:
        self.ended = span


def is_fast_span_sound(ids: IdGenerator) -> bool:
    """Do the same to a fast span and to one of the SDK's, and compare what they show."""
    try:
        keeper = _Keeper()
        provider = TracerProvider(
            sampler=sampling.ALWAYS_ON,
            id_generator=ids,
            resource=Resource.get_empty(),
            shutdown_on_exit=False,
        )
        provider.add_span_processor(keeper)
        tracer: Any = provider.get_tracer("otel_trace")
        plain = tracer.start_span(_SITE.name, attributes={"param.x": 1}, start_time=1)
        recorder = _Recorder(tracer)
        fast = _make_fast(recorder, plain.get_span_context())
        _exercise(plain)
        _exercise(fast)
        return _picture(fast) == _picture(keeper.ended) and recorder.calls == ["event", "link", "end"]
    except Exception:
        return False


def _make_fast(recorder: _Recorder, context: trace_api.SpanContext) -> FastSpan:
    span: FastSpan = object.__new__(FastSpan)
    share = TraceShare(context.trace_id, TraceFlags(context.trace_flags), TraceState())
    fields = {
        "runtime": recorder,
        "site": _SITE,
        "trace": share,
        "span_id": context.span_id,
        "parent": None,
        "values": [1],
        "facts": None,
        "extra": None,
        "is_touched": False,
        "result": None,
        "error": None,
    }
    for name, value in fields.items():
        setattr(span, f"_ot_{name}", value)
    span._start_time, span._end_time = 1, None
    return span


def _exercise(span: Any) -> None:
    span.set_attribute("a", [1, 2])
    span.add_event("e", {"b": 1.5}, timestamp=2)
    span.add_link(span.get_span_context(), {"c": True})
    span.set_status(Status(StatusCode.ERROR, "bad"))
    span.update_name("renamed")
    span.end(3)


def _picture(span: Any) -> tuple[Any, ...]:
    events = [(event.name, dict(event.attributes), event.timestamp) for event in span.events]
    links = [(link.context, dict(link.attributes)) for link in span.links]
    status = (span.status.status_code, span.status.description)
    times = (span.start_time, span.end_time)
    return (
        span.name,
        span.context,
        dict(span.attributes),
        events,
        links,
        status,
        times,
        span.kind,
        span.parent,
    )
