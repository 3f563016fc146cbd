"""OTLP JSON made of spans, as a shipper sends it and the Collector writes it into files."""

import dataclasses
import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import Any

from otel_trace.journal.span_data import KINDS, STATUSES, EventData, LinkData, SpanData

Json = dict[str, Any]

_NO_NUMBERS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def make_request(spans: Iterable[SpanData]) -> Json:
    """Return the export request that carries the spans: a group for each process and scope."""
    groups: dict[tuple[str, str, str], list[SpanData]] = {}
    for span in spans:
        groups.setdefault((span.process.key, span.scope, span.scope_version), []).append(span)
    return {"resourceSpans": [make_group(group) for group in groups.values()]}


def make_group(spans: Sequence[SpanData]) -> Json:
    """Return the spans of one process and scope."""
    scope = {"name": spans[0].scope, "version": spans[0].scope_version}
    return {
        "resource": {"attributes": make_attributes(spans[0].resource)},
        "scopeSpans": [{"scope": scope, "spans": [make_json_span(span) for span in spans]}],
    }


def make_json_span(span: SpanData) -> Json:
    """Return one span."""
    attributes, events, links = span.dropped
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id or "",
        "traceState": span.trace_state,
        "name": span.name,
        "kind": KINDS.index(span.kind) + 1,
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": make_attributes(span.attributes),
        "events": [make_json_event(event) for event in span.events],
        "links": [make_json_link(link) for link in span.links],
        "status": {"code": STATUSES.index(span.status), "message": span.status_message},
        "droppedAttributesCount": attributes,
        "droppedEventsCount": events,
        "droppedLinksCount": links,
        "flags": 0x301 if span.is_parent_remote else 0x101,
    }


def make_json_event(event: EventData) -> Json:
    """Return one event."""
    return {
        "name": event.name,
        "timeUnixNano": str(event.time_ns),
        "attributes": make_attributes(event.attributes),
    }


def make_json_link(link: LinkData) -> Json:
    """Return one link."""
    return {"traceId": link.trace_id, "spanId": link.span_id, "attributes": make_attributes(link.attributes)}


def make_attributes(values: Json) -> list[Json]:
    """Return attributes, each with its type."""
    return [{"key": key, "value": make_value(value)} for key, value in values.items()]


def make_value(value: Any) -> Json:
    """Return one value."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value if math.isfinite(value) else _NO_NUMBERS[str(value)]}
    if isinstance(value, list):
        return {"arrayValue": {"values": [make_value(item) for item in value]}}
    return {"stringValue": value}


def make_sendable(spans: Iterable[SpanData], now_ns: int) -> list[SpanData]:
    """Return what a shipper would send: open spans of a live process as markers, of a dead one as interrupted."""
    spans = list(spans)
    marked = {span.span_id for span in spans if span.is_open and span.process.is_alive}
    return [make_one_sendable(span, now_ns, marked) for span in spans]


def make_one_sendable(span: SpanData, now_ns: int, marked: set[str]) -> SpanData:
    """Return one span as a shipper would send it."""
    if span.span_id in marked:
        return make_marker(span, now_ns, marked)
    return make_interrupted(span) if span.is_open else span


def make_marker_id(span_id: str) -> str:
    """Return another id for a span that is still open."""
    return hashlib.sha256(span_id.encode()).hexdigest()[:16]


def make_marker(span: SpanData, now_ns: int, marked: set[str]) -> SpanData:
    """Return the marker of an open span: below its parent's marker, else its parent, and a root's below itself."""
    link = [LinkData(span.trace_id, span.span_id, {"otel_trace.link": "open"})] if span.parent_id else []
    parent = span.parent_id or span.span_id
    return dataclasses.replace(
        span,
        name=f"{span.name} (open)",
        span_id=make_marker_id(span.span_id),
        parent_id=make_marker_id(parent) if span.parent_id in marked else parent,
        end_ns=now_ns,
        attributes={**span.attributes, "otel_trace.open": True},
        links=[*span.links, *link],
    )


def make_interrupted(span: SpanData) -> SpanData:
    """Return the end that is made for a span whose process died."""
    return dataclasses.replace(
        span,
        end_ns=max(span.last_ns, span.start_ns + 1),
        attributes={**span.attributes, "otel_trace.interrupted": True},
        status="error",
        status_message="the process ended before the span did",
    )
