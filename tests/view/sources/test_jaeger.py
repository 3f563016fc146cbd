"""Jaeger's search as Jaeger does it: at most a page, the last to arrive first, and 500 where there is a NaN."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest

from otel_trace.view.errors import SourceFailed
from otel_trace.view.sources.backend import DAY, MAX_TRACES
from otel_trace.view.sources.http import Client
from otel_trace.view.sources.jaeger import JaegerBackend
from tests.view.factories import make_process, make_span
from tests.view.otlp import make_request

NOW = 1_800_000_000 * 10**9
SECOND = 10**9


@dataclass(frozen=True)
class Stored:
    """A trace of one span, as Jaeger has it."""

    trace_id: str
    start_ns: int
    run_id: str = "run-a"
    service: str = "train"
    step: int = 0

    @property
    def tags(self) -> dict[str, str]:
        """What the trace is found by."""
        return {"training.run_id": self.run_id, "training.step": str(self.step)}


class FakeJaeger(Client):
    """Answers as Jaeger's memory store does; `stored` is in the order of arrival."""

    def __init__(self, *stored: Stored, has_nan: bool = False) -> None:
        super().__init__("http://jaeger")
        self.stored = stored
        self.has_nan = has_nan
        self.num_searches = 0

    def get_json(self, path: str, **query: str | int) -> Any:
        """Answer one request."""
        if path == "/api/services":
            return {"data": sorted({one.service for one in self.stored}) or None}
        self.num_searches += 1
        if path == "/api/traces":
            return self._search_pages(query)
        return self._search_spans(query)

    def _search_pages(self, query: dict[str, Any]) -> Any:
        if self.has_nan:
            raise SourceFailed("NaN", 500)
        tags = json.loads(query["tags"])
        found = self._find(
            query["service"], query["start"] * 1_000, query["end"] * 1_000, query["limit"], tags
        )
        return {
            "data": [
                {"traceID": one.trace_id, "spans": [{"startTime": one.start_ns // 1_000}]} for one in found
            ]
        }

    def _search_spans(self, query: dict[str, Any]) -> Any:
        first, last = (
            round(datetime.fromisoformat(query[f"query.start_time_{which}"]).timestamp() * SECOND)
            for which in ("min", "max")
        )
        found = self._find(query["query.service_name"], first, last, query["query.num_traces"])
        return {"result": make_request(map(make_stored_span, found))} if found else None

    def _find(
        self, service: str, first: int, last: int, limit: int, tags: dict[str, str] | None = None
    ) -> list[Stored]:
        return [
            one
            for one in reversed(self.stored)
            if one.service == service
            and first <= one.start_ns <= last
            and (tags or {}).items() <= one.tags.items()
        ][:limit]


def make_stored_span(stored: Stored) -> Any:
    """Return the span of a stored trace."""
    process = make_process(service=stored.service)
    process.key = stored.trace_id
    process.resource |= {"training.run_id": stored.run_id, "process.pid": int(stored.trace_id, 16)}
    step = {"training.step": stored.step}
    span = make_span("a1" * 8, trace_id=stored.trace_id, process=process, attributes=step)
    span.start_ns = span.end_ns = stored.start_ns
    return span


def make_backend(client: FakeJaeger) -> JaegerBackend:
    """Return a backend whose clock stands still."""
    return JaegerBackend(client, clock=lambda: NOW)


def make_many(number: int, *, step_ns: int = SECOND, **facts: str) -> list[Stored]:
    """Return traces one after another, the last one a second ago."""
    return [
        Stored(f"{index + 1:032x}", NOW - SECOND - (number - index - 1) * step_ns, **facts, step=index)
        for index in range(number)
    ]


def test_a_run_of_many_pages_is_found_whole() -> None:
    """Where one page does not hold a run, the time is cut until every part is whole; newest first."""
    stored = make_many(900)
    client = FakeJaeger(*stored)
    found = make_backend(client).find_traces("run-a")
    assert ([one.trace_id for one in reversed(stored)], False) == (found.trace_ids, found.has_more)
    assert client.num_searches < 40


def test_what_arrived_late_is_found() -> None:
    """The order in which traces arrive does not matter: what arrived first may have happened last."""
    stored = make_many(500)
    client = FakeJaeger(*stored[250:], *stored[:250])
    assert {one.trace_id for one in stored} == set(make_backend(client).find_traces("run-a").trace_ids)


def test_of_too_many_traces_the_newest_are_found() -> None:
    """Beyond the limit the newest are taken, and it is said that there are more."""
    stored = make_many(MAX_TRACES + 300)
    found = make_backend(FakeJaeger(*stored)).find_traces("run-a")
    assert ([one.trace_id for one in reversed(stored)][:MAX_TRACES], True) == (
        found.trace_ids,
        found.has_more,
    )


def test_many_traces_of_one_moment_end_the_search() -> None:
    """More than a page of traces at one and the same time is no endless search."""
    stored = [Stored(f"{number:032x}", NOW - SECOND) for number in range(1, 300)]
    client = FakeJaeger(*stored)
    assert make_backend(client).find_traces("run-a").trace_ids
    assert client.num_searches < 100


def test_a_run_is_found_in_every_service() -> None:
    """The launcher and the workers of a run may have names of their own."""
    client = FakeJaeger(
        Stored("1" * 32, NOW - 2 * SECOND, service="launcher"), Stored("2" * 32, NOW - SECOND)
    )
    assert ["2" * 32, "1" * 32] == make_backend(client).find_traces("run-a").trace_ids


def test_a_nan_is_gone_around() -> None:
    """Where Jaeger fails at its own pages, traces are found by their spans, and other runs are left out."""
    ours, others = (
        make_many(300),
        [Stored(f"{number:032x}", NOW - SECOND, "run-b") for number in range(1000, 1050)],
    )
    found = make_backend(FakeJaeger(*ours, *others, has_nan=True)).find_traces("run-a")
    assert [one.trace_id for one in reversed(ours)] == found.trace_ids


def test_the_newest_run_is_found_first() -> None:
    """For the newest run no more is asked than needed."""
    client = FakeJaeger(*make_many(50, run_id="old", step_ns=DAY // 10), *make_many(1, run_id="new"))
    (newest, *_) = make_backend(client).list_runs(only_newest=True)
    assert ("new", NOW - SECOND, ("train",), 1) == (
        newest.run_id,
        newest.newest_ns,
        newest.services,
        client.num_searches,
    )


def test_a_busy_run_does_not_hide_older_ones() -> None:
    """Samples are taken from longer and longer ago."""
    old = [Stored("f" * 32, NOW - 3 * DAY, "old")]
    runs = make_backend(FakeJaeger(*old, *make_many(400, run_id="busy"))).list_runs()
    assert ["busy", "old"] == [run.run_id for run in runs]


def test_an_empty_jaeger_has_no_runs() -> None:
    """A Jaeger that has seen nothing has no services, no runs and no traces."""
    backend = make_backend(FakeJaeger())
    assert ([], []) == (backend.list_runs(), backend.find_traces("run-a").trace_ids)


def test_spans_without_a_run_are_no_run() -> None:
    """Services that are no training are passed over."""
    assert [] == make_backend(FakeJaeger(Stored("1" * 32, NOW - SECOND, ""))).list_runs()


@pytest.mark.parametrize("has_nan", [False, True])
def test_one_step_is_found(*, has_nan: bool) -> None:
    """A step is found among more traces than are read at once, also where Jaeger's own pages fail."""
    stored = make_many(MAX_TRACES + 300)
    found = make_backend(FakeJaeger(*stored, has_nan=has_nan)).find_traces("run-a", 7)
    assert ([stored[7].trace_id], False) == (found.trace_ids, found.has_more)
