"""What is shown of spans that have not ended: a marker while their process lives, their end when it has died."""

import hashlib
from collections.abc import Collection
from dataclasses import replace

from otel_trace import names
from otel_trace.journal.join import bound_span
from otel_trace.journal.span_data import LinkData, SpanData

_ZERO = "0" * 16


def marker_id(span_id: str) -> str:
    """Give the id of a span's marker, derived from its own; never zero."""
    digest = hashlib.blake2b(f"{span_id}/open".encode(), digest_size=8).hexdigest()
    return digest if digest != _ZERO else "0000000000000001"


def make_marker(span: SpanData, now_ns: int, marked: Collection[str]) -> SpanData:
    """Make the marker of an open span: below its parent's marker if that is shown, else below the real parent.

    The marker of a root is below the span itself, so that the trace's root is the span when it arrives; any
    other one links to its span. (A link to a parent would hide in Jaeger that it is one.)
    """
    parent = span.parent_id or span.span_id
    link = [LinkData(span.trace_id, span.span_id, {names.LINK: "open"})] if span.parent_id else []
    if span.parent_id in marked:
        parent = marker_id(parent)
    marker = replace(
        span,
        name=f"{span.name} (open)",
        span_id=marker_id(span.span_id),
        parent_id=parent,
        end_ns=max(now_ns, span.start_ns + 1),
        attributes={**span.attributes, names.OPEN: True},
        events=list(span.events),
        links=[*span.links, *link],
    )
    bound_span(marker)
    return marker


def make_interrupted(span: SpanData, last_ns: int) -> SpanData:
    """Make the end of a span whose process has died, at the time of its last record."""
    ended = replace(
        span,
        end_ns=max(last_ns, span.start_ns + 1),
        attributes={**span.attributes, names.INTERRUPTED: True},
        status="error",
        status_message="the process ended before the span did",
    )
    bound_span(ended)
    return ended
