from __future__ import annotations

import subprocess
import sys
import threading
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from otel_trace.cluster.process import host_name
from otel_trace.journal.format import encode, pack_frame
from otel_trace.journal.spans import RunData, read_run
from tests.journal.factories import DEAD, START_NS, TRACE, bury, die, make_writer, write_spans, writing

SITE = [1, 1, {"name": "load", "params": ["path"]}]
START = [2, [1], TRACE, 1, None, START_NS, ["a.csv"]]
EVENT = [4, 1, START_NS + 1, "e", {"n": 1}]
END = [3, 1, START_NS + 2]


def read_records(folder: Path, *records: list[Any]) -> RunData:
    """Return the run of one dead process that wrote these records."""
    data = b"".join(pack_frame(encode(record)) for record in records)
    (folder / f"{DEAD}-000001.seg").write_bytes(data)
    return read_run(folder)


@pytest.mark.parametrize("order", list(permutations((SITE, START, EVENT, END))))
def test_records_are_joined_in_any_order(tmp_path: Path, order: tuple[list[Any], ...]) -> None:
    """Start, event, end and definition make the same span however they are mixed."""
    run = read_records(tmp_path, *order)
    (span,) = run.spans
    assert ("load", {"path": "a.csv"}, START_NS + 2, 1) == (
        span.name,
        span.attributes,
        span.end_ns,
        len(span.events),
    )
    assert not run.damage


def test_end_in_a_later_segment_ends_the_span(tmp_path: Path) -> None:
    """A span may begin in one segment and end in another."""
    with writing(tmp_path) as writer:
        write_spans(writer, 1, is_ended=False)
        writer._replace(writer.segment)
        writer.end(1, START_NS + 10**9)
    (span,) = read_run(tmp_path).spans
    assert START_NS + 10**9 == span.end_ns


def test_open_span_of_a_live_process_is_running(tmp_path: Path) -> None:
    """A start without an end is an open span, with its parameters."""
    with writing(tmp_path / host_name()) as writer:
        write_spans(writer, 1, is_ended=False)
        (span,) = read_run(tmp_path).spans
    assert (True, False, {"path": "a.csv"}) == (span.is_open, span.is_interrupted, span.attributes)


def test_open_span_of_a_dead_process_was_interrupted(tmp_path: Path) -> None:
    """It will never end; the last record of its process says how long it was seen."""
    writer = make_writer(tmp_path)
    write_spans(writer, 1, is_ended=False)
    writer.event(1, START_NS + 10**7, "last", {})
    die(writer)
    bury(tmp_path)
    (span,) = read_run(tmp_path).spans
    assert (True, True, START_NS + 10**7) == (span.is_open, span.is_interrupted, span.last_ns)


def test_process_of_another_host_counts_as_ended(tmp_path: Path) -> None:
    """Whether it lives cannot be seen from here."""
    folder = tmp_path / "another-host"
    with writing(folder) as writer:
        write_spans(writer, 1)
        (process,) = read_run(tmp_path).processes
    assert (False, "another-host") == (process.is_alive, process.host)


def test_span_is_never_shorter_than_a_nanosecond(tmp_path: Path) -> None:
    """An end before the start is put behind it."""
    (span,) = read_records(tmp_path, SITE, START, [3, 1, START_NS - 5]).spans
    assert START_NS + 1 == span.end_ns


def test_spans_are_in_order_of_their_start(tmp_path: Path) -> None:
    """Whatever the order of the records."""
    starts = [[2, [1], TRACE, number, None, START_NS - number, []] for number in (2, 3, 1)]
    assert [3, 2, 1] == [int(span.span_id) for span in read_records(tmp_path, SITE, *starts).spans]


def test_lost_definition_leaves_the_span(tmp_path: Path) -> None:
    """Its name is unknown; times, ids and plain values of other sites are not."""
    run = read_records(tmp_path, START, END)
    (span,) = run.spans
    assert ("?", START_NS + 2) == (span.name, span.end_ns)
    assert 1 == run.damage.missing_definitions


def test_end_without_a_start_is_an_orphan(tmp_path: Path) -> None:
    """It is counted, and no span is made up."""
    run = read_records(tmp_path, END, EVENT)
    assert ([], 2) == (run.spans, run.damage.orphans)


def test_span_that_was_written_twice_is_one(tmp_path: Path) -> None:
    """The first start of an id counts."""
    assert 1 == len(read_records(tmp_path, SITE, START, START, END, END).spans)


def test_missing_starts_of_a_closed_segment_are_damaged(tmp_path: Path) -> None:
    """The final tally knows how many spans there were, so that the ledger closes over damage too."""
    run = read_records(tmp_path, SITE, START, END, [5, {"no_space": 2}, 4])
    assert {"journal": 1, "damaged": 3, "no_space": 2, "created": 6} == run.ledger


HOSTILE = [
    [2, [1], 10**9, 1, None, START_NS, []],
    [2, [1], b"short", 1, None, START_NS, []],
    [2, [1], TRACE, "one", None, START_NS, []],
    [2, [1], TRACE, [1], None, START_NS, []],
    [2, [1], TRACE, -1, None, START_NS, []],
    [2, [1], TRACE, 1, 0.5, START_NS, []],
    [2, [1], TRACE, 1, None, float("inf"), []],
    [2, [1], TRACE, 1, None, "now", []],
    [2, 1, TRACE, 1, None, START_NS, []],
    [2, [[]], TRACE, 1, None, START_NS, []],
    [2, [1], TRACE, 1, None, START_NS, [[]]],
    [2, [1], TRACE, 1, None, START_NS, 7],
    [2, [1], TRACE, 1, None, START_NS, [{3: 4}]],
    [2, [1], TRACE, 1, None, START_NS, [], 7],
    [2, [1], TRACE, 1, None, START_NS, [], None, [1]],
    [2, [1], TRACE, 1, None, START_NS, [], None, {"k": 99}],
    [2],
    [1],
    [1, [2], {}],
    [1, 9, "text"],
    [3],
    [3, [7], 1],
    [3, 7, "never", None],
    [4, 7],
    [4, 7, 1, "e", 3],
    [6, 7, b"x", 1, {}],
    [6, 7, TRACE, -4, {}],
]


@pytest.mark.parametrize("record", HOSTILE, ids=repr)
def test_nonsense_record_is_damage_alone(tmp_path: Path, record: list[Any]) -> None:
    """An intact frame with the wrong content is counted and takes nothing with it."""
    neighbour = [2, [1], TRACE, 7, None, START_NS, ["b.csv"]]
    run = read_records(tmp_path, SITE, record, neighbour, [3, 7, START_NS + 1])
    assert ("load", START_NS + 1) == next(
        (span.name, span.end_ns) for span in run.spans if int(span.span_id, 16) == 7
    )
    assert run.damage or run.damage.orphans
    assert 1 >= run.damage.records


@pytest.mark.parametrize("header", [{}, {"resource": 5}, {"run_id": None, "resource": {"a": 1}}])
def test_header_may_be_lost(tmp_path: Path, header: dict[str, Any]) -> None:
    """The spans are read without what it told."""
    run = read_records(tmp_path, [0, header], SITE, START, END)
    assert 1 == len(run.spans)
    assert header.get("resource") in (run.processes[0].resource, 5, None)


def test_folder_is_read_while_it_is_written(tmp_path: Path) -> None:
    """Reading meanwhile finds whole spans, more each time, and no damage."""
    stop = threading.Event()
    writer = make_writer(tmp_path / host_name(), max_bytes=2**30)

    def emit() -> None:
        first = 1
        while not stop.is_set():
            first += write_spans(writer, 50, first=first)

    thread = threading.Thread(target=emit)
    thread.start()
    try:
        runs = [read_run(tmp_path) for _ in range(30)]
    finally:
        stop.set()
        thread.join()
        writer.close()
    counts = [len(run.spans) for run in runs]
    assert sorted(counts) == counts
    assert [] == [run.damage for run in runs if run.damage]


def test_folder_of_another_process_is_read_while_it_is_written(tmp_path: Path) -> None:
    """Also when reader and writer truly run at the same time."""
    program = """
import sys
from pathlib import Path
from tests.journal.factories import make_writer, write_spans
writer = make_writer(Path(sys.argv[1]), segment_bytes=2**20)
first = 1 + write_spans(writer, 1)
print("ready", flush=True)
while True:
    first += write_spans(writer, 100, first=first)
"""
    command = [sys.executable, "-c", program, str(tmp_path / host_name())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            runs = [read_run(tmp_path) for _ in range(15)]
        finally:
            process.kill()
    assert [] == [run.damage for run in runs if run.damage]
    assert {"load"} == {span.name for run in runs for span in run.spans}
    assert len(runs[-1].spans) > len(runs[0].spans)
