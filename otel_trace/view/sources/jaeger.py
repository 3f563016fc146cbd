"""A Jaeger: spans by `/api/v3`, which has the types right and does not stumble over a NaN; search by tags by `/api`.

A search gives at most a page of whole traces, the last to arrive first, whatever their times. So a window of time that
gives a full page is cut in two, the newer part first, until every part gives less: nothing is passed over, however late
it was sent.
"""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from otel_trace import names
from otel_trace.journal.span_data import SpanData
from otel_trace.view.errors import SourceFailed
from otel_trace.view.sources.backend import DAY, MAX_TRACES, SECOND, FoundTraces, RemoteRun, gather_runs
from otel_trace.view.sources.http import Client
from otel_trace.view.sources.otlp import OtlpReading

_PAGE = 200
_SAMPLE = 20
_BACK = 30 * DAY
_AHEAD = DAY
"""Clocks of training machines may be ahead."""
_WINDOWS = [part * SECOND for part in (60, 600, 3_600, 6 * 3_600)] + [DAY, 2 * DAY, 7 * DAY, _BACK]
_MIN_WINDOW = SECOND // 1_000
"""No run has a page of traces in a millisecond."""
_SERVER_ERROR = 500

_Window = tuple[int, int]
_Tags = dict[str, str]
_Starts = dict[str, int]
"""Trace ids with the time of their first matching span."""


class JaegerBackend:
    """Jaeger's query service."""

    name = "Jaeger"

    def __init__(self, client: Client, clock: Callable[[], int] = time.time_ns) -> None:
        self.url = client.url
        self._client = client
        self._clock = clock

    def list_runs(self, *, only_newest: bool = False) -> list[RemoteRun]:
        """Return the runs in samples of traces: some of the last minute, of the ten minutes before, and so on."""
        services = self._list_services()
        spans: list[SpanData] = []
        for window in self._list_windows():
            for service in services:
                spans += self._search(service, window, _SAMPLE)
            if only_newest and any(span.process.run_id for span in spans):
                break
        return gather_runs(spans)

    def find_traces(self, run_id: str, step: int | None = None) -> FoundTraces:
        """Return the traces of a run or a step among those of the last 30 days, in any service."""
        now = self._clock()
        tags = {names.RUN_ID: run_id} | ({} if step is None else {names.STEP: str(step)})
        found: _Starts = {}
        for service in self._list_services():
            for page in self._walk(service, tags, (now - _BACK, now + _AHEAD)):
                found |= page
                if len(found) > MAX_TRACES:
                    break
        newest = sorted(found, key=lambda trace_id: -found[trace_id])
        return FoundTraces(newest[:MAX_TRACES], has_more=len(newest) > MAX_TRACES)

    def read_trace(self, trace_id: str) -> Any:
        """Return a trace as it was sent, without Jaeger's corrections."""
        return self._client.get_json(f"/api/v3/traces/{trace_id}", raw_traces="true")

    def _list_services(self) -> list[str]:
        answer = self._client.get_json("/api/services") or {}
        return [str(service) for service in answer.get("data") or ()]

    def _list_windows(self) -> Iterator[_Window]:
        now = self._clock()
        newest = now + _AHEAD
        for length in _WINDOWS:
            yield now - length, newest
            newest = now - length

    def _search(self, service: str, window: _Window, limit: int) -> list[SpanData]:
        """Return the spans of traces that have a span in the window."""
        first, last = (datetime.fromtimestamp(moment / SECOND, UTC).isoformat() for moment in window)
        query: dict[str, str | int] = {
            "query.service_name": service,
            "query.start_time_min": first,
            "query.start_time_max": last,
            "query.num_traces": limit,
            "query.raw_traces": "true",
        }
        reading = OtlpReading()
        reading.add(self._client.get_json("/api/v3/traces", **query))
        return reading.spans

    def _walk(self, service: str, tags: _Tags, window: _Window) -> Iterator[_Starts]:
        """Yield all traces of a run, newer ones first."""
        windows = [window]
        while windows:
            first, last = windows.pop()
            found, is_full = self._find_page(service, tags, (first, last))
            middle = _find_middle(found, first, last)
            if is_full and last - first > _MIN_WINDOW:
                windows += [(first, middle), (middle, last)]
            else:
                yield found

    def _find_page(self, service: str, tags: _Tags, window: _Window) -> tuple[_Starts, bool]:
        """Return a page of the traces that have these tags, and whether there may be more."""
        first, last = (moment // 1_000 for moment in window)
        try:
            answer = self._client.get_json(
                "/api/traces", service=service, tags=json.dumps(tags), start=first, end=last, limit=_PAGE
            )
        except SourceFailed as error:
            if error.status != _SERVER_ERROR:
                raise
            return self._find_page_by_spans(service, tags, window)
        traces = (answer or {}).get("data") or []
        return {str(trace["traceID"]).zfill(32): _read_start(trace) for trace in traces}, len(traces) >= _PAGE

    def _find_page_by_spans(self, service: str, tags: _Tags, window: _Window) -> tuple[_Starts, bool]:
        """Do the same by the spans themselves: one NaN among them makes Jaeger fail at its own pages."""
        spans = self._search(service, window, _PAGE)
        found = {span.trace_id: span.start_ns for span in reversed(spans) if _has_tags(span, tags)}
        return found, len({span.trace_id for span in spans}) >= _PAGE


def _has_tags(span: SpanData, tags: _Tags) -> bool:
    values = {**span.resource, **span.attributes}
    return all(str(values.get(key)) == text for key, text in tags.items())


def _read_start(trace: dict[str, Any]) -> int:
    starts = [int(span.get("startTime") or 0) for span in trace.get("spans") or ()]
    return min(starts, default=0) * 1_000


def _find_middle(found: _Starts, first: int, last: int) -> int:
    """Return a moment in the window with about as many traces before it as after it."""
    inside = sorted(start for start in found.values() if first < start < last)
    has_parts = len(inside) > 1 and inside[0] < inside[-1]
    return inside[len(inside) // 2] if has_parts else (first + last) // 2
