"""Bring back the spans that a backend cannot show: those still open, and those whose process died.

The shipper stands a *marker* for a span that is open: a span of another id, named `<name> (open)`, with
`otel_trace.open = true` and a link to the real one; its parent is its parent's marker or a real span. The marker of a
root has no such link, and the real root for its parent. When the real span is there too, the marker has done its work
and is left out. A span whose process died was ended for it as an error, with `otel_trace.interrupted = true`, at the
last time its process was heard of.

Whether a process lives cannot be asked. It is taken to live while it has a marker and nothing of it was interrupted.
"""

from collections.abc import Mapping, Sequence

from otel_trace import names
from otel_trace.journal.span_data import SpanData

_SUFFIX = " (open)"

_Place = tuple[str, str]
_Real = Mapping[_Place, str]
"""For the place of a marker, the id of the span it stands for."""


def restore_open_spans(spans: Sequence[SpanData]) -> list[SpanData]:
    """Return `spans` with each open span once, as it stands in the journal of its process."""
    markers = [span for span in spans if span.attributes.get(names.OPEN) is True]
    real = {_get_place(marker): _find_real_id(marker) for marker in markers}
    ended = {_get_place(span) for span in spans} - real.keys()
    kept = [span for span in spans if (span.trace_id, real.get(_get_place(span), "")) not in ended]
    _tell_last_times(spans, real)
    interrupted = [span for span in kept if span.attributes.get(names.INTERRUPTED) is True]
    for span in interrupted:
        _restore_interrupted(span)
    _tell_who_lives([span for span in kept if _get_place(span) in real], interrupted)
    for span in kept:
        _restore_place(span, real)
    return kept


def _get_place(span: SpanData) -> _Place:
    return (span.trace_id, span.span_id)


def _find_real_id(marker: SpanData) -> str:
    """Return the id of the span that a marker stands for; its own where it does not say."""
    linked = next((link.span_id for link in marker.links if link.attributes.get(names.LINK) == "open"), None)
    return linked or marker.parent_id or marker.span_id


def _tell_last_times(spans: Sequence[SpanData], real: _Real) -> None:
    """Say of each span when its process last recorded something."""
    last: dict[str, int] = {}
    for span in spans:
        moments = (span.start_ns, *(event.time_ns for event in span.events))
        if span.end_ns is not None and _is_recorded(span, real):
            moments += (span.end_ns,)
        last[span.process.key] = max(last.get(span.process.key, 0), *moments)
    for span in spans:
        span.last_ns = last[span.process.key]


def _is_recorded(span: SpanData, real: _Real) -> bool:
    """Tell whether a process recorded the end of a span; one made for it is at least 1 ns after the start."""
    if span.attributes.get(names.INTERRUPTED) is True:
        return span.end_ns != span.start_ns + 1
    return _get_place(span) not in real


def _restore_interrupted(span: SpanData) -> None:
    """Undo the end that was made for the span: neither its time nor its status is its own."""
    span.end_ns = None
    span.status, span.status_message = "unset", ""
    del span.attributes[names.INTERRUPTED]


def _tell_who_lives(markers: Sequence[SpanData], interrupted: Sequence[SpanData]) -> None:
    dead = {span.process.key for span in interrupted}
    for marker in markers:
        marker.process.is_alive = marker.process.key not in dead


def _restore_place(span: SpanData, real: _Real) -> None:
    """Give a marker the id and the looks of its span; below a marker is below the span it stands for."""
    above = real.get((span.trace_id, span.parent_id or ""), span.parent_id)
    if _get_place(span) in real:
        _unmask(span, real[_get_place(span)])
    span.parent_id = None if above == span.span_id else above


def _unmask(marker: SpanData, real_id: str) -> None:
    marker.span_id = real_id
    marker.name = marker.name.removesuffix(_SUFFIX)
    marker.end_ns = None
    marker.attributes.pop(names.OPEN, None)
    marker.links = [link for link in marker.links if link.attributes.get(names.LINK) != "open"]
