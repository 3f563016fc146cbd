"""The SDK's own exporter beside our journal: both get the same spans, ours and the SDK's."""

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from otel_trace.view import Span, open_run
from tests.backends.query import StoredSpan
from tests.backends.servers import Jaeger, Tempo

CHECKOUT = Path(__file__).parents[2]
WAYS = ("after-configure", "own-provider", "while-open")
STATUSES = ("unset", "ok", "error")
TREE = {
    "step": None,
    "forward": "step",
    "train_step": "forward",
    "plain": "train_step",
    "scale": "plain",
    "fail": "forward",
}


@pytest.fixture(params=["jaeger", "tempo"], scope="session")
def backend(request: pytest.FixtureRequest) -> Jaeger | Tempo:
    """Return each of the backends in turn."""
    server: Jaeger | Tempo = request.getfixturevalue(request.param)
    return server


@dataclass(frozen=True)
class Comparable:
    """What the journal and a backend must tell alike."""

    name: str
    span_id: str
    parent_id: str
    start_ns: int
    end_ns: int | None
    attributes: dict[str, Any]
    events: list[tuple[str, int, dict[str, Any]]]
    status: str
    status_message: str
    scope: str


@dataclass(frozen=True)
class Recording:
    """One run of the program: the id of its trace and what its journal has of it."""

    trace_id: str
    journal: list[Comparable]


@pytest.fixture(scope="session")
def record(
    jaeger: Jaeger, tempo: Tempo, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Recording]:
    """Return a function that runs the program, once for each way, with both backends as its exporters' servers."""

    @functools.cache
    def record(way: str) -> Recording:
        folder = tmp_path_factory.mktemp(way)
        trace_id = run_program(folder, way, jaeger.otlp_http, tempo.otlp_http)
        trace = next(trace for trace in open_run(folder).traces if trace.trace_id == trace_id)
        return Recording(trace_id, [compare_journalled(span) for span in trace.spans])

    return record


def run_program(folder: Path, *arguments: str) -> str:
    """Run the program with its journal in a folder; return what it prints."""
    command = [sys.executable, "-m", "tests.backends.programs.foreign_exporter", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "OTELTRACE_DIR": str(folder)}
    done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def compare_journalled(span: Span) -> Comparable:
    """Return what is compared, of a span of the journal."""
    events = [(event.name, event.time_ns, event.attributes) for event in span.events]
    return Comparable(
        span.name,
        span.span_id,
        span.parent_id or "",
        span.start_ns,
        span.end_ns,
        span.attributes,
        events,
        span.status,
        span.status_message,
        span.scope,
    )


def compare_stored(span: StoredSpan) -> Comparable:
    """Return what is compared, of a span of a backend."""
    events = [(event.name, event.time_ns, event.attributes) for event in span.events]
    return Comparable(
        span.name,
        span.span_id,
        span.parent_id,
        span.start_ns,
        span.end_ns,
        span.attributes,
        events,
        STATUSES[span.status],
        span.status_message,
        span.scope,
    )


def sort_by_id(spans: list[Comparable]) -> list[Comparable]:
    """Return spans in an order that does not depend on who tells them."""
    return sorted(spans, key=lambda span: span.span_id)


def read_tree(spans: list[Comparable]) -> dict[str, str | None]:
    """Return the name of each span's parent."""
    names = {span.span_id: span.name for span in spans}
    return {span.name: names.get(span.parent_id) for span in spans}


@pytest.mark.parametrize("way", WAYS)
def test_a_foreign_exporter_gets_what_the_journal_has(
    way: str, backend: Jaeger | Tempo, record: Callable[[str], Recording]
) -> None:
    """Spans of ours and of the SDK arrive once, in one tree, with the journal's ids, times, values and events."""
    recording = record(way)
    stored = [compare_stored(span) for span in backend.traces().wait_for(recording.trace_id, len(TREE))]
    assert read_tree(stored) == TREE
    assert sort_by_id(stored) == sort_by_id(recording.journal)


def test_tensor_facts_arrive(backend: Jaeger | Tempo, record: Callable[[str], Recording]) -> None:
    """The facts of parameters and of the return value are attributes under the names of the contract."""
    spans = backend.traces().wait_for(record("after-configure").trace_id, len(TREE))
    scale = next(span.attributes for span in spans if span.name == "scale")
    ours = {key: value for key, value in scale.items() if not key.startswith("code.")}
    assert ours == {
        "param.x.shape": [8, 16],
        "param.x.dtype": "float32",
        "param.x.device": "cpu",
        "param.x.summary": "float32[8, 16] cpu",
        "param.factor": 0.5,
        "return.shape": [8, 16],
        "return.dtype": "float32",
        "return.device": "cpu",
        "return.summary": "float32[8, 16] cpu",
        "touched": True,
        "training.step": 7,
        "training.loop": "train",
        "training.stage": "forward",
    }
