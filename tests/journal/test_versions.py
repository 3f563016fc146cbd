from __future__ import annotations

import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from otel_trace.journal.format import FORMAT, FORMATS, encode, pack_frame
from otel_trace.journal.spans import RunData, SpanData, read_run
from tests.journal.factories import DEAD, START_NS, TRACE, write_spans, writing
from tests.journal.make_golden import FACTS, GOLDEN, SITE, write_golden

if TYPE_CHECKING:
    from pathlib import Path

CODE = {"code.function.name": "train.train_step", "code.line.number": 12}
STEP = {"training.step": 3, "training.loop": "train"}


def read_golden(folder: Path, version: int) -> RunData:
    """Read the golden segment of a format."""
    shutil.copy(GOLDEN / f"format-{version}.bin", folder / f"{DEAD}-000001.seg")
    return read_run(folder)


def look(span: SpanData) -> dict[str, object]:
    """Return in what a span differs from one that has only what all of these have."""
    trace, last_ns = TRACE.hex(), START_NS + 50
    plain = SpanData("", trace, "", "", -1, -1, span.process, scope="train", last_ns=last_ns)
    usual = asdict(plain)
    return {name: value for name, value in asdict(span).items() if value != usual[name]}


def test_every_format_that_is_read_has_its_golden_segment() -> None:
    """The files that the real writers of each format made are kept."""
    assert [f"format-{version}.bin" for version in FORMATS] == sorted(path.name for path in GOLDEN.iterdir())


def test_writer_still_writes_the_golden_segment(tmp_path: Path) -> None:
    """The bytes of the current format do not change without a new format."""
    assert (GOLDEN / f"format-{FORMAT}.bin").read_bytes() == write_golden(tmp_path).read_bytes()


@pytest.mark.parametrize("version", FORMATS)
def test_golden_segment_is_read_whole(tmp_path: Path, version: int) -> None:
    """Each known format gives the same spans, whole."""
    run = read_golden(tmp_path, version)
    tensor = {f"param.batch{suffix}": value for suffix, value in FACTS.items()}
    result = {f"return{suffix}": value for suffix, value in FACTS.items()}
    first = {
        "name": SITE["name"],
        "span_id": "0000000000000001",
        "parent_id": None,
        "start_ns": START_NS,
        "end_ns": START_NS + 40,
        "attributes": {**CODE, **STEP, "param.lr": 0.1, **tensor, "return.value": 0.25},
        "events": [
            {
                "name": "variable.change",
                "time_ns": START_NS + 10,
                "attributes": {"variable.name": "loss", "variable.value": "0.5"},
            }
        ],
        "links": [{"trace_id": TRACE.hex(), "span_id": "0000000000000009", "attributes": {"why": "resumed"}}],
    }
    second = {
        "name": "renamed",
        "span_id": "0000000000000002",
        "parent_id": "0000000000000001",
        "start_ns": START_NS + 20,
        "end_ns": START_NS + 30,
        "kind": "client",
        "trace_state": "a=b",
        "attributes": {
            **CODE,
            **STEP,
            "param.lr": "text",
            "otel_trace.unrepresentable": ["param.batch=NaN"],
            **result,
        },
        "status": "error",
        "status_message": "ValueError: no",
        "dropped": (1, 2, 3),
    }
    third = {
        "name": SITE["name"],
        "span_id": "0000000000000003",
        "parent_id": "0000000000000001",
        "start_ns": START_NS + 50,
        "end_ns": None,
        "attributes": {**CODE, "param.lr": 0.1},
    }
    assert [first, second, third] == [look(span) for span in run.spans]
    assert {"service.name": "train.py", "training.rank": 0} == run.processes[0].resource
    assert {"journal": 3, "no_space": 4, "created": 7} == run.ledger
    assert not run.damage


def test_future_format_is_refused_with_a_message(tmp_path: Path) -> None:
    """A segment of a later version is not guessed at: it is named, and the others are read."""
    header = encode([0, {"format": FORMAT + 1, "run_id": "run-a"}])
    (tmp_path / f"{DEAD}-000001.seg").write_bytes(
        pack_frame(header) + pack_frame(encode([2, [1], TRACE, 1, None, 1, []]))
    )
    with writing(tmp_path) as writer:
        write_spans(writer, 2)
    run = read_run(tmp_path)
    assert 2 == len(run.spans)
    assert [
        f"{DEAD}-000001.seg: format {FORMAT + 1}; this version of otel_trace reads format {FORMAT}"
    ] == run.damage.segments_refused


def test_format_that_is_no_number_is_refused(tmp_path: Path) -> None:
    """Nonsense in the place of the format is refused like any unknown one."""
    (tmp_path / f"{DEAD}-000001.seg").write_bytes(pack_frame(encode([0, {"format": {"x": ["y"] * 1000}}])))
    (message,) = read_run(tmp_path).damage.segments_refused
    assert 200 > len(message)


def test_unknown_kinds_of_records_are_passed_over(tmp_path: Path) -> None:
    """What a later writer of the same format adds does not disturb."""
    with writing(tmp_path) as writer:
        write_spans(writer, 1)
        writer.segment.write(pack_frame(encode([99, {"new": True}])))
        writer.segment.write(pack_frame(encode([100])))
        write_spans(writer, 1, first=2)
    run = read_run(tmp_path)
    assert 2 == len(run.spans)
    assert not run.damage


def test_further_fields_of_known_records_are_passed_over(tmp_path: Path) -> None:
    """A record with fields behind those that are known keeps its meaning."""
    records = [
        [0, {"format": FORMAT, "run_id": "run-a", "later": 1}],
        [1, 1, {"name": "load", "later": 1}, "later"],
        [2, [1], TRACE, 1, None, 5, [], None, {"later": 1}, "later"],
        [4, 1, 6, "event", {}, "later"],
        [6, 1, TRACE, 9, {}, "later"],
        [3, 1, 7, None, {"later": 1}, "later"],
        [5, {}, 1, "later"],
    ]
    data = b"".join(pack_frame(encode(record)) for record in records)
    (tmp_path / f"{DEAD}-000001.seg").write_bytes(data)
    run = read_run(tmp_path)
    assert [("load", 7, 1, 1)] == [
        (span.name, span.end_ns, len(span.events), len(span.links)) for span in run.spans
    ]
    assert not run.damage
