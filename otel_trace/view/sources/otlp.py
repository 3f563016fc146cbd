"""OTLP JSON as spans of the read model: the one form that files, Jaeger and Tempo have in common.

A span that is not what it should be is counted as damage and takes no other with it.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from otel_trace.journal.reader import Damage
from otel_trace.journal.span_data import KINDS, STATUSES, EventData, LinkData, ProcessData, SpanData
from otel_trace.view.model import Run, group_traces
from otel_trace.view.sources.open_spans import restore_open_spans
from otel_trace.view.sources.otlp_values import read_attributes, read_enum, read_id, read_parent
from otel_trace.view.sources.processes import find_process, order_processes

Json = dict[str, Any]

_WRAPPERS = ("result", "trace")
_LISTS = ("resourceSpans", "batches")
_NOT_AS_PROMISED = (
    AttributeError,
    IndexError,
    KeyError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)
_REMOTE = 0x300  # it is known whether the parent is of another process, and it is
_KINDS = ("unspecified", *KINDS)


def is_otlp(value: Any) -> bool:
    """Tell whether a JSON value is OTLP, bare or as a backend wraps it."""
    return isinstance(value, dict) and any(key in value for key in (*_WRAPPERS, *_LISTS))


def is_partial(value: Any) -> bool:
    """Tell whether Tempo says that it has given less than the whole trace."""
    return isinstance(value, dict) and value.get("status") == "PARTIAL"


class OtlpReading:
    """Spans gathered from any number of OTLP JSON values; asking for `spans` ends the gathering."""

    def __init__(self) -> None:
        self.damage = Damage()
        self._found: list[SpanData] = []
        self._processes: dict[str, ProcessData] = {}

    def add(self, value: Any) -> None:
        """Take the spans of one OTLP JSON value."""
        try:
            groups = list(_list_groups(value))
        except _NOT_AS_PROMISED:
            groups = [None]
        for group in groups:
            self._try(self._add_group, group)

    @cached_property
    def spans(self) -> list[SpanData]:
        """All spans, those that are still open as such."""
        return restore_open_spans(self._found)

    @property
    def processes(self) -> list[ProcessData]:
        """The processes of all spans, rank by rank."""
        return order_processes(self._processes.values())

    def make_run(self, run_id: str, *, source: str, notes: Sequence[str] = ()) -> Run:
        """Return all that was read as one run."""
        traces = group_traces(self.spans)
        return Run(run_id, traces, self.processes, self.damage, source=source, notes=notes)

    def _add_group(self, group: Any) -> None:
        process = find_process(read_attributes(group.get("resource") or {}), self._processes)
        for scope_spans in group.get("scopeSpans") or ():
            scope = scope_spans.get("scope") or {}
            for span in scope_spans.get("spans") or ():
                self._try(self._add_span, span, scope, process)

    def _add_span(self, span: Json, scope: Json, process: ProcessData) -> None:
        self._found.append(_read_span(span, scope, process))

    def _try(self, add: Callable[..., None], *parts: Any) -> None:
        try:
            add(*parts)
        except _NOT_AS_PROMISED:
            self.damage.records += 1


def _list_groups(value: Any) -> Iterator[Any]:
    while isinstance(value, dict):
        for key in _LISTS:
            yield from value.get(key) or ()
        value = next((value[key] for key in _WRAPPERS if key in value), None)


def _read_span(span: Json, scope: Json, process: ProcessData) -> SpanData:
    status = span.get("status") or {}
    start_ns = int(span.get("startTimeUnixNano") or 0)
    return SpanData(
        name=str(span.get("name") or ""),
        trace_id=read_id(span["traceId"], 16),
        span_id=read_id(span["spanId"], 8),
        parent_id=read_parent(span.get("parentSpanId") or ""),
        start_ns=start_ns,
        end_ns=max(int(span.get("endTimeUnixNano") or 0), start_ns),
        process=process,
        kind=_KINDS[read_enum(span.get("kind") or 1, _KINDS, "SPAN_KIND_") or 1],
        attributes=read_attributes(span),
        events=[_read_event(event) for event in span.get("events") or ()],
        links=[_read_link(link) for link in span.get("links") or ()],
        status=STATUSES[read_enum(status.get("code") or 0, STATUSES, "STATUS_CODE_")],
        status_message=str(status.get("message") or ""),
        scope=str(scope.get("name") or ""),
        scope_version=str(scope.get("version") or ""),
        trace_state=str(span.get("traceState") or ""),
        dropped=_read_dropped(span),
        is_parent_remote=int(span.get("flags") or 0) & _REMOTE == _REMOTE,
    )


def _read_event(event: Json) -> EventData:
    return EventData(
        str(event.get("name") or ""), int(event.get("timeUnixNano") or 0), read_attributes(event)
    )


def _read_link(link: Json) -> LinkData:
    return LinkData(read_id(link["traceId"], 16), read_id(link["spanId"], 8), read_attributes(link))


def _read_dropped(span: Json) -> tuple[int, int, int]:
    attributes, events, links = (
        int(span.get(f"dropped{what}Count") or 0) for what in ("Attributes", "Events", "Links")
    )
    return attributes, events, links
