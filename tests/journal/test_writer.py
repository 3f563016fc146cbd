from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from otel_trace.journal.format import Kind, decode_payload
from otel_trace.journal.reader import Damage, read_segment
from otel_trace.journal.spans import read_run
from tests.journal.factories import KIB, MODES, START_NS, TRACE, Shared, make_writer, write_spans, writing

if TYPE_CHECKING:
    from pathlib import Path

CUDA = Shared({".shape": [8, 16], ".dtype": "float32"})
MAPPED = pytest.mark.parametrize("is_mapped", [True, False], ids=MODES)


def records_of(folder: Path) -> list[list[Any]]:
    """Return all records of the segments of a folder, in order."""
    segments = [read_segment(path, Damage()) for path in sorted(folder.glob("*.seg"))]
    return [record for segment in segments if segment for record in segment.records]


@MAPPED
def test_span_is_read_as_it_was_written(tmp_path: Path, *, is_mapped: bool) -> None:
    """Name, ids, times, parameters, facts, context, return value and status come back."""
    site = Shared(
        {
            "name": "load",
            "scope": ["app", "2", ""],
            "attributes": {"code.line.number": 7},
            "params": ["a", "x"],
        }
    )
    context = Shared({"training.step": 3})
    with writing(tmp_path, is_mapped=is_mapped) as writer:
        writer.start(site, TRACE, 2, 1, START_NS, [0.5, CUDA], context, {"t": "k=v"})
        writer.end(2, START_NS + 5, CUDA, {"s": (2, "ValueError: no")})
    (span,) = read_run(tmp_path).spans
    assert ("load", TRACE.hex(), "0000000000000002", "0000000000000001") == (
        span.name,
        span.trace_id,
        span.span_id,
        span.parent_id,
    )
    assert (START_NS, START_NS + 5, "app", "2", "k=v") == (
        span.start_ns,
        span.end_ns,
        span.scope,
        span.scope_version,
        span.trace_state,
    )
    assert {
        "code.line.number": 7,
        "training.step": 3,
        "a": 0.5,
        "x.shape": [8, 16],
        "x.dtype": "float32",
        "return.shape": [8, 16],
        "return.dtype": "float32",
    } == span.attributes
    assert ("error", "ValueError: no") == (span.status, span.status_message)


def test_what_many_share_is_defined_once_a_segment(tmp_path: Path) -> None:
    """A site and facts are written once, however often they are referred to."""
    site = Shared()
    with writing(tmp_path) as writer:
        for span in range(1, 6):
            writer.start(site, TRACE, span, None, START_NS, [CUDA])
    kinds = Counter(record[0] for record in records_of(tmp_path))
    assert {Kind.DEFINITION: 2, Kind.START: 5, Kind.TALLY: 1} == kinds


@MAPPED
def test_every_segment_defines_what_it_uses(tmp_path: Path, *, is_mapped: bool) -> None:
    """Any segment can go without taking another one's meaning with it."""
    with writing(tmp_path, is_mapped=is_mapped) as writer:
        assert 3000 == write_spans(writer, 3000)
    paths = sorted(tmp_path.glob("*.seg"))
    assert 3 <= len(paths)
    for path in paths[1:]:
        path.unlink()
        run = read_run(tmp_path)
        assert 0 == run.damage.missing_definitions
        assert {"load"} == {span.name for span in run.spans}


def test_threads_define_different_things_under_different_numbers(tmp_path: Path) -> None:
    """Facts that several threads define at once are not taken for each other's."""
    with writing(tmp_path, segment_bytes=1024 * KIB) as writer:
        writer.event(1, 1, "opened", {})
        barrier = threading.Barrier(4)

        def emit(thread: int) -> None:
            barrier.wait()
            for number in range(300):
                span = thread * 1000 + number + 1
                writer.start(Shared({"name": f"site {span}"}), TRACE, span, None, START_NS, [])

        threads = [threading.Thread(target=emit, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    spans = read_run(tmp_path).spans
    assert 1200 == len(spans)
    assert [] == [span.name for span in spans if span.name != f"site {int(span.span_id, 16)}"]


def test_number_is_never_given_twice(tmp_path: Path) -> None:
    """A definition that comes between another one's number and its record has a number of its own."""
    with writing(tmp_path) as writer:
        writer.event(1, 1, "opened", {})
        inner = Shared({"name": "inner"})

        class Interrupted(Shared):
            """Facts during whose definition a signal handler emits."""

            @property
            def data(self) -> dict[str, Any]:
                if writer.segment.ids.get(inner) is None:
                    writer.start(inner, TRACE, 1, None, START_NS, [])
                return {"name": "outer"}

        outer = object.__new__(Interrupted)
        writer.start(outer, TRACE, 2, None, START_NS, [])
    assert ["inner", "outer"] == [span.name for span in read_run(tmp_path).spans]


def test_definitions_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts beyond the limit are written in place; the limit keeps the memory of a long run small."""
    monkeypatch.setattr("otel_trace.journal.writer._MAX_DEFINITIONS", 3)
    with writing(tmp_path) as writer:
        for span in range(1, 11):
            writer.start(Shared(), TRACE, span, None, START_NS, [Shared({".shape": [span]})])
        assert 12 >= len(writer.segment.ids)
    shapes = [span.attributes["path.shape"] for span in read_run(tmp_path).spans]
    assert [[span] for span in range(1, 11)] == sorted(shapes)


@pytest.mark.parametrize(
    "value", ["a\ud800", 2**64, {"a": 2**70}, {"a": "\ud800"}, {None: "\udfff"}, {".x": [float("nan")]}]
)
def test_value_that_cannot_be_encoded_does_not_cost_the_span(tmp_path: Path, value: Any) -> None:
    """It is cleaned on the slow way; the span and its neighbours are there."""
    with writing(tmp_path) as writer:
        assert writer.start(Shared(), TRACE, 1, None, START_NS, [value])
        assert writer.end(1, START_NS + 1, value)
        write_spans(writer, 1, first=2)
    run = read_run(tmp_path)
    assert ["0000000000000001", "0000000000000002"] == [span.span_id for span in run.spans]
    assert not run.damage


@pytest.mark.parametrize("value", [object(), (1, 2), b"x", {1, 2}])
def test_value_of_no_known_kind_is_counted_as_invalid(tmp_path: Path, value: Any) -> None:
    """What nobody described is no record: counted, without an error, and nothing else is lost."""
    with writing(tmp_path) as writer:
        assert not writer.start(Shared(), TRACE, 1, None, START_NS, [value])
        assert write_spans(writer, 1, first=2) == 1
        assert Counter(invalid=1) == writer.ledger.lost
    assert 2 == read_run(tmp_path).ledger["created"]


@pytest.mark.parametrize(
    "fields", [{"span": 2**64}, {"time": 2**64}, {"span": -(2**63) - 1}, {"span": "one"}]
)
def test_id_or_time_beyond_64_bits_is_counted_as_invalid(tmp_path: Path, fields: dict[str, Any]) -> None:
    """Such a record cannot be written, and costs nothing else."""
    record = {"site": Shared(), "trace": TRACE, "span": 1, "parent": None, "time": START_NS, "values": []}
    with writing(tmp_path) as writer:
        is_taken = writer.start(**{**record, **fields})
        write_spans(writer, 1, first=2)
    run = read_run(tmp_path)
    assert ["0000000000000002"] == [span.span_id for span in run.spans]
    assert not is_taken or run.damage.records == 1


def test_too_large_record_is_counted_as_invalid(tmp_path: Path) -> None:
    """A record above the limit is not written; its neighbours are."""
    with writing(tmp_path, segment_bytes=4096 * KIB) as writer:
        values = ["x" * 2000] * 1000
        assert not writer._put([Kind.START, Shared(), TRACE, 1, None, START_NS, values, None, None], "")
        write_spans(writer, 1, first=2)
    run = read_run(tmp_path)
    assert {"invalid": 1, "journal": 1, "created": 2} == run.ledger


def test_events_and_links_are_read_with_their_span(tmp_path: Path) -> None:
    """They come at once and in order."""
    with writing(tmp_path) as writer:
        write_spans(writer, 1, is_ended=False)
        for number in range(3):
            writer.event(1, START_NS + number, f"event {number}", {"n": number})
        writer.link(1, TRACE, 9, {"why": "resumed"})
    (span,) = read_run(tmp_path).spans
    assert [("event 0", {"n": 0}), ("event 1", {"n": 1}), ("event 2", {"n": 2})] == [
        (event.name, event.attributes) for event in span.events
    ]
    assert [(TRACE.hex(), "0000000000000009", {"why": "resumed"})] == [
        (link.trace_id, link.span_id, link.attributes) for link in span.links
    ]


def test_process_that_writes_nothing_leaves_nothing(tmp_path: Path) -> None:
    """No segment is made before the first record."""
    writer = make_writer(tmp_path / "journal")
    writer.flush()
    writer.close()
    assert not (tmp_path / "journal").exists()


def test_header_tells_format_and_process(tmp_path: Path) -> None:
    """The first frame of a segment says what reads it and who wrote it."""
    with writing(tmp_path) as writer:
        write_spans(writer, 1)
        data = writer.segment.path.read_bytes()
    record = decode_payload(data[10 : 10 + int.from_bytes(data[2:6], "little")])
    assert record is not None
    assert (Kind.HEADER, 1, "run-a") == (record[0], record[1]["format"], record[1]["run_id"])
