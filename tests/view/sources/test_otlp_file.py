import json
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from otel_trace.errors import RunNotFound
from otel_trace.journal.span_data import SpanData
from otel_trace.view import open_run
from otel_trace.view.errors import SourceFailed
from tests.view.factories import make_process, make_span
from tests.view.otlp import make_request, make_sendable
from tests.view.programs import describe_run, record_run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where a file will be."""
    return tmp_path / "spans.json"


def make_run_span(number: int, run_id: str) -> SpanData:
    """Return the one span of a trace of a run."""
    process = make_process(number)
    process.resource |= {"training.run_id": run_id} if run_id else {}
    return make_span(f"{number:016x}", at=number, trace_id=f"{number:032x}", process=process)


def write_lines(path: Path, spans: Iterable[SpanData]) -> None:
    """Write a request per span, each on a line of its own."""
    path.write_text("".join(json.dumps(make_request([span])) + "\n" for span in spans))


def test_a_file_tells_the_same_as_the_journal(tmp_path: Path, path: Path) -> None:
    """All that two ranks recorded, one of them killed, is the same read from OTLP JSON as from its journal."""
    run = record_run(tmp_path / "journal")
    path.write_text(json.dumps(make_request(make_sendable(run.spans, time.time_ns()))))
    found = open_run(str(path))
    assert describe_run(run) == describe_run(found)
    assert ["called"] * 2 == [span.name for span in found.spans if span.is_parent_remote]
    assert 2 == sum(span.is_interrupted for span in found.spans)


def test_a_request_per_line_is_read(path: Path) -> None:
    """The Collector's file exporter writes a request per line."""
    write_lines(path, [make_run_span(number, "run-a") for number in (1, 2, 3)])
    run = open_run(path)
    assert ("run-a", 3, str(path)) == (run.run_id, len(run.traces), run.source)


def test_a_pretty_file_and_a_list_are_read(path: Path) -> None:
    """A request over many lines, or several in a list, are as good."""
    request = make_request([make_run_span(1, "run-a")])
    for text in (
        json.dumps(request, indent=2),
        json.dumps([request, request]),
        "\ufeff" + json.dumps(request),
    ):
        path.write_text(text)
        assert 1 == len(open_run(path).spans)


def test_a_torn_line_is_damage(path: Path) -> None:
    """A collector that was killed in the middle of a line leaves the lines before it."""
    write_lines(path, [make_run_span(1, "run-a"), make_run_span(2, "run-a")])
    path.write_text(path.read_text()[:-20])
    run = open_run(path)
    assert (1, 1) == (len(run.spans), run.damage.records)


def test_of_several_runs_the_newest_is_opened(path: Path) -> None:
    """A file may hold several runs: the newest is meant, or the one that is named."""
    write_lines(path, [make_run_span(1, "run-old"), make_run_span(2, "run-new"), make_run_span(3, "")])
    assert ("run-new", [2]) == describe(path, None)
    assert ("run-old", [1]) == describe(path, "run-o")


def describe(path: Path, run_id: str | None) -> tuple[str, list[int]]:
    """Return which run is opened, and the ranks in it."""
    run = open_run(path, run=run_id)
    return run.run_id, [process.resource["training.rank"] for process in run.processes]


def test_spans_of_no_run_are_shown(path: Path) -> None:
    """Spans of another program are read too; their run has no id."""
    write_lines(path, [make_run_span(1, ""), make_run_span(2, "")])
    run = open_run(path)
    assert ("", 2) == (run.run_id, len(run.spans))


def test_a_run_that_is_not_there_is_named(path: Path) -> None:
    """An unknown id is told with the ids there are."""
    write_lines(path, [make_run_span(1, "run-a")])
    with pytest.raises(RunNotFound) as caught:
        open_run(path, run="nope")
    assert f"no run 'nope' in {path}; runs there: run-a" == str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"{}", b'{"spans": []}', b"[1]", b"\x28\xb5\x2f\xfd\0", b"[" * 9_999]
)
def test_what_is_no_otlp_is_refused(path: Path, content: bytes) -> None:
    """Anything else is one message, whatever it is."""
    path.write_bytes(content)
    with pytest.raises(SourceFailed) as caught:
        open_run(path)
    assert f"{str(path)!r} is neither a journal nor OTLP JSON" == str(caught.value)
