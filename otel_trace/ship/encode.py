"""Spans as the bytes of an OTLP request."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from otel_trace.journal.join import Shared
from otel_trace.journal.span_data import KINDS, STATUSES, EventData, LinkData, ProcessData, SpanData
from otel_trace.ship.parted import Parted
from otel_trace.ship.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    attributes,
    block,
    fixed64,
    tag,
    text,
    varint,
)

_TRACE, _SPAN, _STATE, _PARENT, _NAME = (tag(field, BYTES) for field in (1, 2, 3, 4, 5))
_KIND, _START, _END, _ATTRIBUTES = tag(6, VARINT), tag(7, FIXED64), tag(8, FIXED64), tag(9, BYTES)
_DROPPED_ATTRIBUTES, _EVENTS, _DROPPED_EVENTS = tag(10, VARINT), tag(11, BYTES), tag(12, VARINT)
_LINKS, _DROPPED_LINKS, _STATUS, _FLAGS = tag(13, BYTES), tag(14, VARINT), tag(15, BYTES), tag(16, FIXED32)
_EVENT_TIME, _EVENT_NAME, _EVENT_ATTRIBUTES = tag(1, FIXED64), tag(2, BYTES), tag(3, BYTES)
_LINK_TRACE, _LINK_SPAN, _LINK_ATTRIBUTES = tag(1, BYTES), tag(2, BYTES), tag(4, BYTES)
_STATUS_MESSAGE, _STATUS_CODE = tag(2, BYTES), tag(3, VARINT)
_RESOURCE_SPANS, _RESOURCE, _SCOPE_SPANS = tag(1, BYTES), tag(1, BYTES), tag(2, BYTES)
_SCOPE, _SCOPE_NAME, _SCOPE_VERSION, _SPANS = tag(1, BYTES), tag(1, BYTES), tag(2, BYTES), tag(2, BYTES)
_FIRST = tag(1, BYTES)
_KIND_BYTES = {kind: _KIND + varint(number) for number, kind in enumerate(KINDS, 1)}
# It is known whether the parent is remote, and it is, or is not.
_LOCAL_FLAGS, _REMOTE_FLAGS = (_FLAGS + flags.to_bytes(4, "little") for flags in (0x100, 0x300))
_LINK_FLAGS = tag(6, FIXED32) + (0x100).to_bytes(4, "little")


@dataclass(slots=True)
class EncodedSpan:
    """A span ready to be sent, with whose it is."""

    process: ProcessData
    scope: tuple[str, str]
    trace_id: str
    span_id: str
    data: bytes
    is_marker: bool = False


def encode_span(span: SpanData, *, is_marker: bool = False) -> EncodedSpan:
    """Encode a span that has ended, or the marker of one that has not."""
    parts = [
        block(_TRACE, bytes.fromhex(span.trace_id)),
        block(_SPAN, bytes.fromhex(span.span_id)),
        text(_STATE, span.trace_state) if span.trace_state else b"",
        block(_PARENT, bytes.fromhex(span.parent_id)) if span.parent_id else b"",
        text(_NAME, span.name),
        _KIND_BYTES[span.kind],
        fixed64(_START, span.start_ns),
        fixed64(_END, span.end_ns or span.start_ns + 1),
        _encode_attributes(span.attributes),
        *(block(_EVENTS, _encode_event(event)) for event in span.events),
        *(block(_LINKS, _encode_link(link)) for link in span.links),
        _REMOTE_FLAGS if span.is_parent_remote else _LOCAL_FLAGS,
    ]
    if any(span.dropped):
        for prefix, number in zip(
            (_DROPPED_ATTRIBUTES, _DROPPED_EVENTS, _DROPPED_LINKS), span.dropped, strict=True
        ):
            parts.append(prefix + varint(number))
    if span.status != "unset":
        parts.append(block(_STATUS, _encode_status(span)))
    scope = (span.scope, span.scope_version)
    return EncodedSpan(span.process, scope, span.trace_id, span.span_id, b"".join(parts), is_marker)


def _encode_attributes(values: dict[str, Any]) -> bytes:
    if not isinstance(values, Parted):
        return attributes(_ATTRIBUTES, values)
    parts = [_encode_shared(shared) for shared in values.shared]
    return b"".join(parts) + attributes(_ATTRIBUTES, values)


def _encode_shared(shared: Shared) -> bytes:
    try:
        return shared.encoded
    except AttributeError:
        shared.encoded = attributes(_ATTRIBUTES, shared)
        return shared.encoded


def _encode_event(event: EventData) -> bytes:
    facts = attributes(_EVENT_ATTRIBUTES, event.attributes)
    return fixed64(_EVENT_TIME, event.time_ns) + text(_EVENT_NAME, event.name) + facts


def _encode_link(link: LinkData) -> bytes:
    ids = block(_LINK_TRACE, bytes.fromhex(link.trace_id)) + block(_LINK_SPAN, bytes.fromhex(link.span_id))
    return ids + attributes(_LINK_ATTRIBUTES, link.attributes) + _LINK_FLAGS


def _encode_status(span: SpanData) -> bytes:
    message = text(_STATUS_MESSAGE, span.status_message) if span.status_message else b""
    return message + _STATUS_CODE + varint(STATUSES.index(span.status))


def encode_request(spans: Iterable[EncodedSpan]) -> bytes:
    """Give the request that carries the spans: by process, then by scope."""
    groups: dict[str, dict[tuple[str, str], list[bytes]]] = {}
    processes: dict[str, ProcessData] = {}
    for span in spans:
        processes[span.process.key] = span.process
        groups.setdefault(span.process.key, {}).setdefault(span.scope, []).append(block(_SPANS, span.data))
    return b"".join(
        block(_RESOURCE_SPANS, _encode_group(processes[key], scopes)) for key, scopes in groups.items()
    )


def _encode_group(process: ProcessData, scopes: dict[tuple[str, str], list[bytes]]) -> bytes:
    resource: dict[str, Any] = process.resource
    parts = [block(_RESOURCE, attributes(_FIRST, resource))]
    for (name, version), spans in scopes.items():
        scope = text(_SCOPE_NAME, name) + text(_SCOPE_VERSION, version)
        parts.append(block(_SCOPE_SPANS, block(_SCOPE, scope) + b"".join(spans)))
    return b"".join(parts)
