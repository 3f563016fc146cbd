"""Spans as the bytes of an OTLP request."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Any

from otel_trace.journal.join import Shared
from otel_trace.journal.span_data import KINDS, STATUSES, EventData, LinkData, ProcessData, SpanData
from otel_trace.ship.parted import Parted
from otel_trace.ship.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    MASK,
    VARINT,
    attributes,
    block,
    fixed64,
    known_text,
    tag,
    text,
    varint,
)

# Ids have a fixed length, which stands behind the tag.
_TRACE, _SPAN, _PARENT = tag(1, BYTES) + varint(16), tag(2, BYTES) + varint(8), tag(4, BYTES) + varint(8)
_STATE, _NAME, _KIND, _ATTRIBUTES = tag(3, BYTES), tag(5, BYTES), tag(6, VARINT), tag(9, BYTES)
_START, _END = tag(7, FIXED64), tag(8, FIXED64)
_pack = Struct("<2s16s2s8ssQsQ").pack
_DROPPED = tag(10, VARINT), tag(12, VARINT), tag(14, VARINT)
_EVENTS, _LINKS, _STATUS, _FLAGS = tag(11, BYTES), tag(13, BYTES), tag(15, BYTES), tag(16, FIXED32)
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
    data = (
        _pack_ids(span)
        + known_text(_NAME, span.name)
        + _KIND_BYTES[span.kind]
        + _encode_attributes(span.attributes)
        + (_REMOTE_FLAGS if span.is_parent_remote else _LOCAL_FLAGS)
    )
    if span.events or span.links or span.trace_state or span.status != "unset" or any(span.dropped):
        data += b"".join(_encode_rare(span))
    scope = (span.scope, span.scope_version)
    return EncodedSpan(span.process, scope, span.trace_id, span.span_id, data, is_marker)


def _pack_ids(span: SpanData) -> bytes:
    """Give ids and times, which have the same size in every span, in one piece."""
    from_hex = bytes.fromhex
    start_ns, end_ns = span.start_ns & MASK, (span.end_ns or span.start_ns + 1) & MASK
    trace_id, span_id = from_hex(span.trace_id), from_hex(span.span_id)
    packed = _pack(_TRACE, trace_id, _SPAN, span_id, _START, start_ns, _END, end_ns)
    return packed + _PARENT + from_hex(span.parent_id) if span.parent_id else packed


def _encode_rare(span: SpanData) -> Iterator[bytes]:
    """Yield the fields that few spans have."""
    if span.trace_state:
        yield text(_STATE, span.trace_state)
    for event in span.events:
        yield block(_EVENTS, _encode_event(event))
    for link in span.links:
        yield block(_LINKS, _encode_link(link))
    for prefix, number in zip(_DROPPED, span.dropped, strict=True):
        yield prefix + varint(number) if number else b""
    if span.status != "unset":
        yield block(_STATUS, _encode_status(span))


def _encode_attributes(values: dict[str, Any]) -> bytes:
    if not isinstance(values, Parted):
        return attributes(_ATTRIBUTES, values)
    parts = b"".join([_encode_shared(shared) for shared in values.shared])
    return parts + attributes(_ATTRIBUTES, values) if values else parts


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
