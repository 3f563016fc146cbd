from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Link, StatusCode, Tracer
from opentelemetry.util.types import AttributeValue

from tests.backends.query import StoredEvent, StoredLink, StoredSpan, read_span
from tests.backends.servers import Collector, Jaeger, ServerError, Tempo

ATTRIBUTES: dict[str, AttributeValue] = {
    "shape": [8, 16],
    "rate": 0.5,
    "name": "x",
    "flag": True,
    "count": 2**53 + 1,
}


@pytest.fixture
def tracer(collector: Collector) -> Iterator[Tracer]:
    """Return a plain SDK tracer whose spans go to the Collector."""
    provider = TracerProvider(resource=Resource.create({"service.name": "servers"}))
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{collector.otlp_http}/v1/traces")))
    yield provider.get_tracer("tests")
    provider.shutdown()


def send_two_spans(tracer: Tracer) -> str:
    """Send a parent and a child that has one of everything; return the trace id."""
    with tracer.start_as_current_span("parent") as parent:
        links = [Link(parent.get_span_context(), {"kind": "run"})]
        with tracer.start_as_current_span("child", attributes=ATTRIBUTES, links=links) as child:
            child.add_event("change", {"value": 2.5}, timestamp=1)
            child.set_status(StatusCode.ERROR, "late")
    return f"{parent.get_span_context().trace_id:032x}"


def sort_by_name(spans: list[StoredSpan]) -> list[StoredSpan]:
    """Return spans in an order that does not depend on the server."""
    return sorted(spans, key=attrgetter("name"))


def test_both_servers_tell_the_same_spans(
    tracer: Tracer, collector: Collector, jaeger: Jaeger, tempo: Tempo
) -> None:
    """What goes through the Collector is read back from Jaeger and Tempo as equal data."""
    before = collector.count_received_spans()
    trace_id = send_two_spans(tracer)
    child, parent = sort_by_name(jaeger.traces().wait_for(trace_id, 2))
    assert [child, parent] == sort_by_name(tempo.traces().wait_for(trace_id, 2))
    assert (parent.parent_id, child.parent_id) == ("", parent.span_id)
    assert child.attributes == ATTRIBUTES
    assert child.events == (StoredEvent("change", 1, {"value": 2.5}),)
    assert child.links == (StoredLink(trace_id, parent.span_id, {"kind": "run"}),)
    assert (child.status, child.status_message) == (2, "late")
    assert child.resource["service.name"] == "servers"
    assert collector.count_received_spans() == before + 2


def test_both_servers_search(tracer: Tracer, jaeger: Jaeger, tempo: Tempo) -> None:
    """A span is found by its name or its attributes."""
    trace_id = send_two_spans(tracer)
    jaeger.traces().wait_for(trace_id, 2)
    assert "servers" in jaeger.traces().list_services()
    assert trace_id in [trace["traceID"] for trace in jaeger.traces().search("servers", shape="[8,16]")]
    found = tempo.traces().wait_for_search(f'{{ trace:id = "{trace_id}" && name = "child" }}')
    assert [trace["rootTraceName"] for trace in found] == ["parent"]


def test_remarks_of_jaeger_are_no_attributes() -> None:
    """Jaeger's warnings, which it puts among the attributes, are kept apart and do not make spans differ."""
    warning = {"key": "@jaeger@warnings", "value": {"arrayValue": {"values": [{"stringValue": "no parent"}]}}}
    ids = {"traceId": "ab", "spanId": "cd"}
    remarked = read_span({**ids, "attributes": [warning]}, "", {}, str)
    assert remarked == read_span(ids, "", {}, str)
    assert (remarked.attributes, remarked.warnings) == ({}, ("no parent",))


def test_unknown_traces_are_empty(jaeger: Jaeger, tempo: Tempo) -> None:
    """A trace nobody sent has no spans."""
    assert jaeger.traces().read("ab" * 16) == []
    assert tempo.traces().read("ab" * 16) == []


def test_a_server_keeps_its_ports(tmp_path: Path, jaeger: Jaeger) -> None:
    """A server that was killed comes back under the same address."""
    server = Jaeger(tmp_path)
    with server:
        address = server.otlp_http
        server.kill()
        with pytest.raises(ServerError, match="jaeger is not running"):
            server.stop()
        server.start()
        assert server.otlp_http == address != jaeger.otlp_http


def test_a_failed_start_quotes_the_log(tmp_path: Path, jaeger: Jaeger) -> None:
    """A server that cannot start says why."""
    server = Jaeger(tmp_path)
    server.port["otlp_http"] = jaeger.port["otlp_http"]
    with pytest.raises(
        ServerError, match=r"jaeger ended with code 1 before it was ready(.|\n)*address already in use"
    ):
        server.start()
