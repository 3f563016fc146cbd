"""Any damage leaves the intact records readable: exactly those that were not touched."""

from __future__ import annotations

import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings, strategies as st

from otel_trace.journal.format import MAX_PAYLOAD, encode, pack_frame
from otel_trace.journal.reader import Damage, scan_frames
from otel_trace.journal.spans import RunData, read_run
from tests.journal.factories import DEAD, START_NS, TRACE, fill_with, frames_of

PAGE = 4096


def make_frames() -> list[bytes]:
    """Return the frames of a real segment of 60 spans, about three pages."""
    with tempfile.TemporaryDirectory() as name:
        return frames_of(fill_with(Path(name), 60))


FRAMES = make_frames()
DATA = b"".join(FRAMES)
PLACES = [sum(map(len, FRAMES[:number])) for number in range(len(FRAMES))]
offsets = st.integers(0, len(DATA) - 1)


def frames_in(data: bytes, damage: Damage | None = None) -> list[bytes]:
    """Return the intact frames of some data."""
    return [pack_frame(payload) for _, payload in scan_frames(data, Damage() if damage is None else damage)]


def untouched(data: bytes) -> list[bytes]:
    """Return the frames that are in their place unchanged."""
    return [
        frame
        for place, frame in zip(PLACES, FRAMES, strict=True)
        if data[place : place + len(frame)] == frame
    ]


def read_data(data: bytes) -> RunData:
    """Return the run of one dead process that left these bytes."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / f"{DEAD}-000001.seg").write_bytes(data)
        return read_run(Path(name))


@example([(0, 0), (85, 1), (118, 0), (175, 0)])
@given(st.lists(st.tuples(offsets, st.integers(0, 7)), min_size=1, max_size=20))
def test_flipped_bits(flips: list[tuple[int, int]]) -> None:
    """Exactly the frames without a flipped bit are found, and damage is counted if any was hit."""
    data = bytearray(DATA)
    for offset, bit in flips:
        data[offset] ^= 1 << bit
    damage = Damage()
    assert untouched(bytes(data)) == frames_in(bytes(data), damage)
    assert (bytes(data) != DATA) == bool(damage)
    read_data(bytes(data))


@given(st.lists(st.tuples(offsets, st.binary(min_size=1, max_size=300)), min_size=1, max_size=5))
def test_overwritten_places(places: list[tuple[int, bytes]]) -> None:
    """Garbage over some records hides those and no others."""
    data = bytearray(DATA)
    for offset, garbage in places:
        data[offset : offset + len(garbage)] = garbage[: len(data) - offset]
    assert untouched(bytes(data)) == frames_in(bytes(data))


@given(st.integers(0, len(DATA)))
def test_truncation(length: int) -> None:
    """The frames that lie whole before the cut are found; a torn one is damage."""
    damage = Damage()
    whole = untouched(DATA[:length])
    assert whole == frames_in(DATA[:length], damage)
    assert bool(damage) == (sum(map(len, whole)) != length)


@given(st.sets(st.integers(0, len(DATA) // PAGE), max_size=3))
def test_pages_of_zeros(pages: set[int]) -> None:
    """Pages that the disk gave back as zeros cost the records that touch them."""
    data = bytearray(DATA)
    for page in pages:
        data[page * PAGE : (page + 1) * PAGE] = bytes(len(data[page * PAGE : (page + 1) * PAGE]))
    assert untouched(bytes(data)) == frames_in(bytes(data))


@given(st.permutations(range(len(FRAMES))))
@settings(max_examples=30)
def test_swapped_records(order: list[int]) -> None:
    """In any order the same spans are read, whole."""
    run = read_data(b"".join(FRAMES[number] for number in order))
    assert [(f"{number:016x}", "load", {"path": "a.csv"}, False) for number in range(1, 61)] == [
        (span.span_id, span.name, span.attributes, span.is_open) for span in run.spans
    ]
    assert not run.damage


@given(st.lists(st.tuples(st.integers(0, len(FRAMES)), st.binary(min_size=1, max_size=200)), max_size=8))
def test_garbage_between_records(insertions: list[tuple[int, bytes]]) -> None:
    """Whatever stands between the records, all of them are found."""
    parts: list[bytes] = list(FRAMES)
    for number, garbage in sorted(insertions, reverse=True):
        parts.insert(number, garbage)
    assert FRAMES == frames_in(b"".join(parts))


@given(st.integers(0, len(FRAMES) - 1), st.integers(0, 2**32 - 1))
def test_giant_lengths(number: int, length: int) -> None:
    """A length that lies costs its own record alone."""
    data = bytearray(DATA)
    place = PLACES[number]
    data[place + 2 : place + 6] = length.to_bytes(4, "little")
    assert untouched(bytes(data)) == frames_in(bytes(data))


@given(st.sets(st.integers(0, len(FRAMES) - 1), max_size=20))
def test_lost_records(lost: set[int]) -> None:
    """Without some records, whichever: every start that is left is a span, every end that is left ends one."""
    kinds = [frame[11] for frame in FRAMES]
    run = read_data(b"".join(frame for number, frame in enumerate(FRAMES) if number not in lost))
    assert sum(kind == 2 for number, kind in enumerate(kinds) if number not in lost) == len(run.spans)
    ends = sum(kind == 3 for number, kind in enumerate(kinds) if number not in lost)
    assert ends == sum(not span.is_open for span in run.spans) + run.damage.orphans


ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=17),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3) | st.integers(-9, 9), inner, max_size=4)
    ),
    max_leaves=8,
)
RECORDS = st.builds(lambda kind, rest: [kind, *rest], st.integers(0, 8), st.lists(ANYTHING, max_size=9))


@given(st.lists(RECORDS, max_size=10))
@settings(max_examples=200)
def test_intact_frames_of_any_content(records: list[Any]) -> None:
    """Whatever stands in intact frames, reading does not fail and the neighbours are there."""
    start = [2, [1], TRACE, 2**64 - 1, None, START_NS, []]
    records = [record for record in records if not (len(record) > 3 and record[1] == 2**64 - 1)]
    payloads = [encode(record) for record in [start, *records, [3, 2**64 - 1, START_NS + 5]]]
    run = read_data(b"".join(map(pack_frame, payloads)))
    refused = bool(run.damage.segments_refused)
    assert refused or [START_NS + 5] == [span.end_ns for span in run.spans if span.span_id == "f" * 16]


@given(st.binary(max_size=2000))
def test_bytes_that_were_never_a_journal(data: bytes) -> None:
    """Any file at all can be read: nothing is in it, and that is counted."""
    run = read_data(data)
    assert [] == run.spans
    assert bool(data.strip(b"\0")) == bool(run.damage)


@given(st.lists(st.binary(max_size=60), max_size=20))
def test_frames_around_any_bytes(payloads: list[bytes]) -> None:
    """Checksums that fit do not make a record of garbage."""
    run = read_data(b"".join(map(pack_frame, payloads)))
    assert [] == [span for span in run.spans if len(span.trace_id) != 32]


HOSTILE = {
    "magics": b"OT" * 2**22,
    "plausible frames": (b"OT" + (MAX_PAYLOAD - 1).to_bytes(4, "little") + b"\0\0\0\0\x92\x02")
    * (2**23 // 12),
    "empty frames": b"OT\0\0\0\0\0\0\0\0" * 800_000,
    "zeros and magics": (b"OT" + bytes(62)) * 2**17,
    "zeros": bytes(2**23),
    "arrays within arrays": pack_frame(b"\x91" * (MAX_PAYLOAD - 1)) * 16,
    "an array said to be long": pack_frame(b"\x92\x02\xdd\xff\xff\xff\xff") * 1000,
    "a map said to be long": pack_frame(b"\x92\x02\xdf\xff\xff\xff\xff") * 1000,
    "a text said to be long": pack_frame(b"\x92\x02\xdb\xff\xff\xff\xff") * 1000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_and_memory_are_bounded(name: str) -> None:
    """Eight megabytes made to waste time or memory are read in seconds, within a few times their size."""
    tracemalloc.start()
    began = time.monotonic()
    try:
        read_data(HOSTILE[name])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 64 * 2**20 >= peak
    assert 20 >= time.monotonic() - began  # far above what it takes, below what an unbounded search would


def test_many_small_records_are_read_within_their_bounds() -> None:
    """An intact record takes some hundred bytes of memory and no more, whatever it says of itself."""
    payload = msgspec.msgpack.encode([2, [1], 10**9, 1, None, START_NS, []])
    run = read_data(pack_frame(payload) * 10_000)
    assert (0, 10_000) == (len(run.spans), run.damage.records)
