"""A run read from a URL: which backend answers there, which run is meant, all of its traces.

http://host:16686                a Jaeger, its newest run
http://host:3200?run=ID          a Tempo, one run by its id or the beginning of it
http://host:16686/trace/ID       one trace, as the address of Jaeger's page names it
"""

import contextlib
import re
import urllib.parse
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from otel_trace.errors import RunNotFound
from otel_trace.view.errors import SourceFailed
from otel_trace.view.model import Run
from otel_trace.view.plain import clean_text
from otel_trace.view.sources.backend import Backend, FoundTraces, RemoteRun, gather_runs
from otel_trace.view.sources.choosing import choose_run
from otel_trace.view.sources.http import Client
from otel_trace.view.sources.jaeger import JaegerBackend
from otel_trace.view.sources.otlp import OtlpReading, is_partial
from otel_trace.view.sources.tempo import TempoBackend
from otel_trace.view.units import format_count

_NUM_THREADS = 4
_PAGE = re.compile(r"(/api(/v[23])?)?/traces?/(?P<trace_id>[0-9a-fA-F]{1,32})/?$|/search/?$")
_CREDENTIALS = re.compile(r"//[^/]*@")


@dataclass(frozen=True, slots=True)
class Address:
    """A URL taken apart: the server, and the run or trace that is meant."""

    server: str
    run_id: str | None = None
    trace_id: str | None = None


def parse_address(url: str) -> Address:
    """Take a URL apart; raises SourceFailed where it is none that can be asked."""
    parts = _split_url(url)
    if parts is None:
        shown = clean_text(_CREDENTIALS.sub("//", url), 200)
        raise SourceFailed(f"{shown!r} is no address of a Jaeger or Tempo; one is http://host:16686")
    page = _PAGE.search(parts.path)
    path = urllib.parse.quote(parts.path[: page.start()] if page else parts.path, safe="/%~+:@")
    run_ids = urllib.parse.parse_qs(parts.query).get("run", [None])
    trace_id = page["trace_id"].lower().zfill(32) if page and page["trace_id"] else None
    return Address(parts._replace(path=path, query="", fragment="").geturl(), run_ids[0], trace_id)


def _split_url(url: str) -> urllib.parse.SplitResult | None:
    """Return the parts of a URL that can be asked, None for any other."""
    try:
        parts = urllib.parse.urlsplit(url)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if is_good else None


def find_backend(server: str) -> Backend:
    """Return the Jaeger or Tempo at an address, by asking it."""
    client = Client(server)
    if _is_jaeger(client):
        return JaegerBackend(client)
    if (client.get("/api/echo") or b"").strip() == b"echo":
        return TempoBackend(client)
    hint = "the port for queries is usually 16686 or 3200, not that for OTLP"
    raise SourceFailed(f"{client.url} is neither a Jaeger nor a Tempo; {hint}")


def _is_jaeger(client: Client) -> bool:
    try:
        answer = client.get_json("/api/services")
    except SourceFailed as error:
        if error.status or "not JSON" not in str(error):
            raise
        return False
    return isinstance(answer, dict) and "data" in answer


def open_remote(url: str, run: str | None = None, step: int | None = None) -> Run:
    """Read the run or the trace that a URL names; of a run that is too long to be read whole, at least that step."""
    address = parse_address(url)
    backend = find_backend(address.server)
    with _distrust(backend):
        if address.trace_id is not None:
            return _read_one(backend, address.trace_id)
        return _read_run(backend, run or address.run_id, step)


@contextlib.contextmanager
def _distrust(backend: Backend) -> Iterator[None]:
    """Say whose answer it was where one is not of the form that it must have."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        what = clean_text(f"{type(error).__name__}: {error}", 200)
        raise SourceFailed(f"{_name_backend(backend)} answered what cannot be understood ({what})") from error


def _read_run(backend: Backend, wanted: str | None, step: int | None) -> Run:
    run_id, found = _find_run(backend, wanted)
    notes: list[str] = []
    if found.has_more:
        found = _narrow(backend, run_id, step, notes) or found
    if found.has_more:
        notes.append(f"there are more traces: only the newest {len(found.trace_ids):,} were asked for")
    return _read_traces(backend, found.trace_ids, notes).make_run(run_id, source=backend.url, notes=notes)


def _narrow(backend: Backend, run_id: str, step: int | None, notes: list[str]) -> FoundTraces | None:
    """Return the traces of one step, None where it is not known or none is wanted."""
    found = FoundTraces([]) if step is None else backend.find_traces(run_id, step)
    if not found.trace_ids:
        return None
    notes.append(f"there are more traces: only step {step} was asked for")
    return found


def find_remote_runs(url: str) -> tuple[str, list[RemoteRun]]:
    """Return what a backend is called, and the runs that it has seen lately."""
    backend = find_backend(parse_address(url).server)
    with _distrust(backend):
        return _name_backend(backend), backend.list_runs()


def _name_backend(backend: Backend) -> str:
    return f"{backend.name} at {backend.url}"


def _read_one(backend: Backend, trace_id: str) -> Run:
    notes: list[str] = []
    reading = _read_traces(backend, [trace_id], notes)
    if not reading.spans and not reading.damage:
        raise RunNotFound(f"{_name_backend(backend)} has no trace {trace_id}")
    runs = gather_runs(reading.spans)
    return reading.make_run(runs[0].run_id if runs else "", source=backend.url, notes=notes)


def _find_run(backend: Backend, wanted: str | None) -> tuple[str, FoundTraces]:
    run_id = wanted or _find_newest(backend)
    found = backend.find_traces(run_id)
    if not found.trace_ids:
        run_id = choose_run(run_id, [one.run_id for one in backend.list_runs()], _name_backend(backend))
        found = backend.find_traces(run_id)
    return run_id, found


def _find_newest(backend: Backend) -> str:
    newest = backend.list_runs(only_newest=True)
    if not newest:
        hint = f"one trace can be named as {backend.url}/trace/ID"
        raise RunNotFound(f"no run in {_name_backend(backend)}; {hint}")
    return newest[0].run_id


def _read_traces(backend: Backend, trace_ids: Sequence[str], notes: list[str]) -> OtlpReading:
    """Return the spans of traces, and note what the backend did not give."""
    reading = OtlpReading()
    num_partial = 0
    with ThreadPoolExecutor(_NUM_THREADS) as pool:
        for answer in pool.map(backend.read_trace, trace_ids):
            reading.add(answer)
            num_partial += is_partial(answer)
    num_missing = len(set(trace_ids) - {span.trace_id for span in reading.spans})
    if num_missing:
        notes.append(f"{format_count(num_missing, 'trace')} found but no longer there")
    if num_partial:
        notes.append(f"{format_count(num_partial, 'trace')} too large to be given whole")
    return reading
