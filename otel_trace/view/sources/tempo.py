"""A Tempo: search by TraceQL, traces by `/api/v2/traces`.

What its search needs to be told: a range, or it leaves out what is stored; one that ends now, for what is stored is
found only by the time it arrived too; none, or it leaves out what was sent late and is not stored yet; a limit, or there
are 20. A trace is asked for without a range: with one around its own time, a trace that was sent late is empty.
"""

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from otel_trace import names
from otel_trace.view.errors import SourceFailed
from otel_trace.view.sources.backend import DAY, MAX_TRACES, SECOND, FoundTraces, RemoteRun
from otel_trace.view.sources.http import Client
from otel_trace.view.sources.otlp_values import read_attributes

_RANGE = 7 * DAY
"""Tempo searches no longer range at once."""
_AHEAD = 3_600 * SECOND
_NUM_WEEKS = 5
_MAX_RUNS = 100
_NUM_THREADS = 4
_RUN = f'resource."{names.RUN_ID}"'
_FACTS = f'select({_RUN}, resource."service.name")'
_NEWEST_FIRST = "with (most_recent=true)"
_LIMIT = re.compile(r"exceeds max limit (\d+)")

Json = dict[str, Any]


class TempoBackend:
    """Tempo's query API."""

    name = "Tempo"

    def __init__(self, client: Client, clock: Callable[[], int] = time.time_ns) -> None:
        self.url = client.url
        self._client = client
        self._clock = clock

    def list_runs(self, *, only_newest: bool = False) -> list[RemoteRun]:
        """Return the runs of the last seven days."""
        if only_newest:
            return self._look_at(f"{{ {_RUN} != nil }}")
        with ThreadPoolExecutor(_NUM_THREADS) as pool:
            queries = map(_ask_for, self._list_run_ids()[:_MAX_RUNS])
            runs = [run for found in pool.map(self._look_at, queries) for run in found]
        return sorted(runs, key=lambda run: -run.newest_ns)

    def _list_run_ids(self) -> list[str]:
        run_ids: dict[str, None] = {}
        for window in ({}, self._say_week(0)):
            answer = (
                self._client.get_json(f"/api/v2/search/tag/resource.{names.RUN_ID}/values", **window) or {}
            )
            run_ids |= {str(value.get("value")): None for value in answer.get("tagValues") or ()}
        return list(run_ids)

    def find_traces(self, run_id: str, step: int | None = None) -> FoundTraces:
        """Return the traces of a run or a step, week by week back to the first week that has none of it."""
        found: dict[str, int] = {}
        is_full = False
        for traces, is_full in self._search_back(_ask_for(run_id, step), MAX_TRACES + 1):
            is_over = bool(found) and not traces
            found |= {_read_id(trace): _read_start(trace) for trace in traces}
            if is_over or is_full:
                break
        newest = sorted(found, key=lambda trace_id: -found[trace_id])
        return FoundTraces(newest[:MAX_TRACES], has_more=is_full or len(newest) > MAX_TRACES)

    def read_trace(self, trace_id: str) -> Any:
        """Return a trace; of a Tempo before 2.7, in its older form."""
        answer = self._client.get_json(f"/api/v2/traces/{trace_id}")
        return self._client.get_json(f"/api/traces/{trace_id}") if answer is None else answer

    def _look_at(self, query: str) -> list[RemoteRun]:
        """Return the run of the newest trace that a query finds, in a list; an empty one when it finds none."""
        for traces, _ in self._search_back(f"{query} | {_FACTS}", 1):
            if traces:
                return [_read_run(max(traces, key=_read_start))]
        return []

    def _search_back(self, query: str, limit: int) -> Iterator[tuple[list[Json], bool]]:
        """Yield what a query finds, week by week, and whether there may be more; this week with what is not stored."""
        recent, is_full = self._search(query, {}, limit)
        for number in range(_NUM_WEEKS):
            stored, is_cut = self._search(query, self._say_week(number), limit)
            yield [*recent, *stored], is_full or is_cut
            recent, is_full = [], False

    def _say_week(self, number: int) -> dict[str, int]:
        """Return the week that ends so many weeks ago."""
        last = self._clock() + _AHEAD - number * _RANGE
        return {"start": (last - _RANGE) // SECOND, "end": last // SECOND}

    def _search(self, query: str, window: dict[str, int], limit: int) -> tuple[list[Json], bool]:
        """Return the traces that a query finds, and whether there may be more."""
        asked = f"{query} {_NEWEST_FIRST}"
        try:
            answer = self._client.get_json("/api/search", q=asked, spss=1, limit=limit, **window)
        except SourceFailed as error:
            allowed = _LIMIT.search(str(error))
            if allowed is None:
                raise
            limit = int(allowed[1])
            answer = self._client.get_json("/api/search", q=asked, spss=1, limit=limit, **window)
        traces = list((answer or {}).get("traces") or ())
        return traces, len(traces) >= limit


def _ask_for(run_id: str, step: int | None = None) -> str:
    """Return the query for the spans of a run, or of one step of it."""
    escaped = run_id.replace("\\", "\\\\").replace('"', '\\"')
    of_step = "" if step is None else f' && span."{names.STEP}" = {step}'
    return f'{{ {_RUN} = "{escaped}"{of_step} }}'


def _read_id(trace: Json) -> str:
    """Return a trace's id; the search leaves out its leading zeros."""
    return str(trace["traceID"]).zfill(32)


def _read_start(trace: Json) -> int:
    return int(trace.get("startTimeUnixNano") or 0)


def _read_run(trace: Json) -> RemoteRun:
    facts: Json = {}
    for span_set in trace.get("spanSets") or ():
        for span in span_set.get("spans") or ():
            facts |= read_attributes(span)
    return RemoteRun(
        str(facts.get(names.RUN_ID, "")), _read_start(trace), (str(facts.get("service.name", "")),)
    )
