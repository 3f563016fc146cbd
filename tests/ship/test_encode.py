from typing import Any

import pytest
from opentelemetry import trace as trace_api
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Link, SpanContext, SpanKind, StatusCode, TraceFlags, TraceState

from otel_trace.emit.processor import JournalProcessor
from otel_trace.journal.delivery import Delivery
from otel_trace.ship.encode import encode_request, encode_span
from otel_trace.ship.follow import Follower
from tests.journal.factories import make_place, make_writer
from tests.ship.factories import TRACE, list_spans, make_encoded, make_process, make_span, parse, parse_one

REMOTE = SpanContext(
    int(TRACE, 16), 0xABC, is_remote=True, trace_flags=TraceFlags(1), trace_state=TraceState([("k", "v")])
)
FACTS: dict[str, Any] = {
    "shape": [8, 16],
    "rate": 0.5,
    "name": "x",
    "on": True,
    "n": 2**53 + 1,
    "neg": -5,
    "é": "ü",
    "flags": [True, False],
    "words": ["a", "b"],
}


def make_all_kinds(provider: TracerProvider) -> None:
    """Make spans with one of everything that the SDK knows."""
    tracer = provider.get_tracer("lib", "1.2")
    remote = trace_api.set_span_in_context(trace_api.NonRecordingSpan(REMOTE))
    links = [Link(SpanContext(5, 6, is_remote=False), {"kind": "run"})]
    with tracer.start_as_current_span("child", remote, SpanKind.SERVER, FACTS, links) as child:
        child.add_event("change", FACTS, timestamp=1_800_000_000_000_000_000)
        child.set_status(StatusCode.ERROR, "late")
        for kind in SpanKind:
            with provider.get_tracer("other").start_as_current_span(kind.name, kind=kind) as inner:
                inner.set_status(StatusCode.OK)


@pytest.fixture
def both(tmp_path: Any) -> tuple[list[ReadableSpan], ExportTraceServiceRequest]:
    """Return the same spans as the SDK has them and as they were journalled, followed and encoded."""
    writer = make_writer(tmp_path)
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "train.py"}), shutdown_on_exit=False)
    provider.add_span_processor(JournalProcessor(writer))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    make_all_kinds(provider)
    writer.close()
    follower = Follower(make_place(tmp_path).folder, writer._key, Delivery())
    ended = [span for span, _ in follower.read(is_over=True)]
    follower.close()
    return list(exporter.get_finished_spans()), parse(encode_request(map(encode_span, ended)))


def normalize(request: ExportTraceServiceRequest) -> list[tuple[Any, ...]]:
    """Return what the spans of a request say; the SDK also writes a status that says nothing."""
    return sorted(
        (
            span.span_id,
            sorted(str(pair) for pair in group.resource.attributes),
            (scope.scope.name, scope.scope.version),
            (span.status.code, span.status.message),
            without_status(span).SerializeToString(deterministic=True),
        )
        for group in request.resource_spans
        for scope in group.scope_spans
        for span in scope.spans
    )


def without_status(span: Span) -> Span:
    """Return a copy of a span that says nothing of its status."""
    copy = Span()
    copy.CopyFrom(span)
    copy.ClearField("status")
    return copy


def test_spans_are_as_the_sdk_encodes_them(
    both: tuple[list[ReadableSpan], ExportTraceServiceRequest],
) -> None:
    """Through journal and shipper a span comes out as from the SDK's own encoder, flags and links included."""
    stock, ours = both
    assert 6 == len(stock)
    assert normalize(encode_spans(stock)) == normalize(ours)


@pytest.mark.parametrize(("is_remote", "flags"), [(False, 0x100), (True, 0x300)])
def test_flags_say_whether_the_parent_is_remote(*, is_remote: bool, flags: int) -> None:
    """The flags are those of the SDK."""
    assert flags == parse_one(make_span(parent_id="00000000000000aa", is_parent_remote=is_remote)).flags


def test_losses_of_a_span_are_told() -> None:
    """Dropped attributes, events and links are counted on the span."""
    span = parse_one(make_span(dropped=(1, 2, 3)))
    assert (1, 2, 3) == (span.dropped_attributes_count, span.dropped_events_count, span.dropped_links_count)


def test_spans_are_grouped_by_process_and_scope() -> None:
    """Each process and each scope in it stands once in a request."""
    one, two = make_process("1-1", rank=0), make_process("2-2", rank=1)
    spans = [
        make_encoded(1, process=one, scope="a", scope_version="1"),
        make_encoded(2, process=two, scope="a"),
        make_encoded(3, process=one, scope="b"),
        make_encoded(4, process=one, scope="a", scope_version="1"),
    ]
    found = [
        (
            group.resource.attributes[0].value.int_value,
            scope.scope.name,
            scope.scope.version,
            [int.from_bytes(span.span_id, "big") for span in scope.spans],
        )
        for group in parse(encode_request(spans)).resource_spans
        for scope in group.scope_spans
    ]
    assert [(0, "a", "1", [1, 4]), (0, "b", "", [3]), (1, "a", "", [2])] == found


def test_no_spans_are_an_empty_request() -> None:
    """A request without spans is valid: it asks whether the endpoint takes anything."""
    assert ExportTraceServiceRequest() == parse(encode_request([]))


def test_encoded_span_knows_its_ids() -> None:
    """What is sent can be told by ids without reading it."""
    span = make_encoded(7)
    assert (TRACE, f"{7:016x}", False) == (span.trace_id, span.span_id, span.is_marker)
    assert bytes.fromhex(TRACE) == list_spans(encode_request([span]))[0].trace_id
