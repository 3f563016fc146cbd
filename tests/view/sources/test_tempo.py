"""Tempo's search: what it is asked, and what is made of its answers."""

import re
from typing import Any

from otel_trace.view.errors import SourceFailed
from otel_trace.view.sources.backend import DAY, MAX_TRACES, RemoteRun
from otel_trace.view.sources.http import Client
from otel_trace.view.sources.tempo import TempoBackend

NOW = 1_800_000_000 * 10**9
SECOND = 10**9


class FakeTempo(Client):
    """Finds traces by their start; `stored` has their ids, without leading zeros, and their starts."""

    def __init__(self, stored: dict[str, int], *, max_limit: int = 0, run_ids: tuple[str, ...] = ()) -> None:
        super().__init__("http://tempo")
        self.stored = stored
        self.max_limit = max_limit
        self.run_ids = run_ids
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def get_json(self, path: str, **query: str | int) -> Any:
        """Answer one request."""
        self.asked.append((path, query))
        if path == "/api/search":
            return self._search(query)
        if path.endswith("/values"):
            return {"tagValues": [{"type": "string", "value": run_id} for run_id in self.run_ids]}
        return {"batches": []} if path.startswith("/api/traces/") else None

    def _search(self, query: dict[str, Any]) -> Any:
        if self.max_limit and query["limit"] > self.max_limit:
            raise SourceFailed(
                f"answered 400: limit {query['limit']} exceeds max limit {self.max_limit}", 400
            )
        first, last = query.get("start", 0) * SECOND, query.get("end", 2**40) * SECOND
        if "start" not in query:
            first = NOW - 3_600 * SECOND
        found = sorted((start, one) for one, start in self.stored.items() if first <= start < last)
        run_id = re.search(r'run_id" = "(.*)" }', query["q"])
        return {
            "traces": [
                make_trace(one, start, run_id[1] if run_id else "newest") for start, one in found[::-1]
            ][: query["limit"]]
        }


def make_trace(trace_id: str, start: int, run_id: str) -> dict[str, Any]:
    """Return a trace as Tempo's search gives it."""
    facts = {"training.run_id": run_id, "service.name": "train"}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in facts.items()]
    spans = [{"spanID": "1", "attributes": attributes}]
    return {"traceID": trace_id, "startTimeUnixNano": str(start), "spanSets": [{"spans": spans}]}


def make_backend(client: FakeTempo) -> TempoBackend:
    """Return a backend whose clock stands still."""
    return TempoBackend(client, clock=lambda: NOW)


def test_the_search_is_told_all_it_needs() -> None:
    """No range, then one of at most seven days that ends now; a limit, and which traces come first."""
    client = FakeTempo({"1": NOW - SECOND})
    make_backend(client).find_traces('a"b\\c')
    (_, recent), (path, query), *_ = client.asked
    assert {"start", "end"} == query.keys() - recent.keys()
    assert ("/api/search", r'{ resource."training.run_id" = "a\"b\\c" } with (most_recent=true)') == (
        path,
        query["q"],
    )
    assert (7 * 86_400, MAX_TRACES + 1, 1) == (query["end"] - query["start"], query["limit"], query["spss"])
    assert query["end"] * SECOND > NOW


def test_leading_zeros_of_ids_are_given_back() -> None:
    """Tempo's search leaves out the leading zeros of an id."""
    assert ["0" * 30 + "7f"] == make_backend(FakeTempo({"7f": NOW - SECOND})).find_traces("a").trace_ids


def test_a_run_is_followed_back_week_by_week() -> None:
    """A run of more than one week is found whole, newest first; the first week without it ends the search."""
    client = FakeTempo({"1": NOW - SECOND, "2": NOW - 9 * DAY, "3": NOW - 30 * DAY})
    assert [f"{number:032x}" for number in (1, 2)] == make_backend(client).find_traces("a").trace_ids
    assert 4 == len(client.asked)


def test_an_old_run_is_found() -> None:
    """A run that ended weeks ago is still found."""
    assert [f"{5:032x}"] == make_backend(FakeTempo({"5": NOW - 25 * DAY})).find_traces("a").trace_ids


def test_of_too_many_traces_the_newest_are_found() -> None:
    """Beyond the limit the newest are taken, and it is said that there are more."""
    client = FakeTempo({f"{number:x}": NOW - number * SECOND for number in range(1, MAX_TRACES + 50)})
    found = make_backend(client).find_traces("a")
    assert ([f"{number:032x}" for number in range(1, MAX_TRACES + 1)], True) == (
        found.trace_ids,
        found.has_more,
    )


def test_a_lower_limit_of_the_server_is_kept() -> None:
    """A Tempo that allows fewer results is asked for as many as it allows, and it is said that there are more."""
    client = FakeTempo({f"{number:x}": NOW - number * SECOND for number in range(1, 50)}, max_limit=10)
    found = make_backend(client).find_traces("a")
    assert (10, True) == (len(found.trace_ids), found.has_more)


def test_runs_are_listed_with_their_newest_moment() -> None:
    """The values of the run's attribute are asked for, then each run for its newest trace."""
    client = FakeTempo({"1": NOW - 2 * SECOND, "2": NOW - SECOND}, run_ids=("a", "b"))
    assert [RemoteRun(run_id, NOW - SECOND, ("train",)) for run_id in ("a", "b")] == make_backend(
        client
    ).list_runs()
    assert "/api/v2/search/tag/resource.training.run_id/values" == client.asked[0][0]


def test_the_newest_run_is_asked_for_alone() -> None:
    """For the newest run only its newest trace is asked for, among what is stored and what is not yet."""
    client = FakeTempo({"1": NOW - SECOND})
    assert ["newest"] == [run.run_id for run in make_backend(client).list_runs(only_newest=True)]
    assert [("/api/search", 1)] * 2 == [(path, query["limit"]) for path, query in client.asked]


def test_an_empty_tempo_has_no_runs() -> None:
    """A Tempo that has seen nothing has no runs and no traces."""
    backend = make_backend(FakeTempo({}))
    assert ([], [], []) == (
        backend.list_runs(),
        backend.list_runs(only_newest=True),
        backend.find_traces("a").trace_ids,
    )


def test_an_older_tempo_is_asked_in_its_way() -> None:
    """A Tempo without `/api/v2` gives a trace by its older address; neither is asked with a range."""
    client = FakeTempo({})
    assert {"batches": []} == make_backend(client).read_trace("ab")
    assert [("/api/v2/traces/ab", {}), ("/api/traces/ab", {})] == client.asked


def test_one_step_is_asked_for() -> None:
    """A step of a run is asked for by its number."""
    client = FakeTempo({"1": NOW - SECOND})
    make_backend(client).find_traces("a", 7)
    assert client.asked[0][1]["q"].startswith(
        '{ resource."training.run_id" = "a" && span."training.step" = 7 }'
    )
