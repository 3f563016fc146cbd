import itertools
from pathlib import Path

import pytest

from otel_trace.journal.delivery import Delivery
from otel_trace.ship import follow
from otel_trace.ship.follow import Follower
from tests.journal.factories import KIB, MODES, START_NS, TRACE, Shared, frames_of, write_spans
from tests.ship.factories import parse_one
from tests.ship.journals import Run


def read_all(follower: Follower, *, is_over: bool = False) -> list[int]:
    """Return the numbers of all spans that have ended, and close."""
    found = [span for _ in range(50) for span, _ in follower.read(is_over=is_over)]
    follower.close()
    return [int(span.span_id, 16) for span in found]


@pytest.mark.parametrize("is_mapped", [True, False], ids=MODES)
def test_spans_come_out_as_they_end(tmp_path: Path, *, is_mapped: bool) -> None:
    """Of a segment that grows, each span comes once, as soon as its end is there."""
    run = Run(tmp_path, is_mapped=is_mapped)
    follower = run.follow()
    assert [] == follower.read()
    write_spans(run.writer, 3)
    assert [1, 2, 3] == [int(span.span_id, 16) for span, _ in follower.read()]
    write_spans(run.writer, 1, first=4, is_ended=False)
    assert ([], ["0000000000000004"]) == (follower.read(), [span.span_id for span in follower.open_spans])
    run.writer.end(4, START_NS + 10**9)
    assert [4] == [int(span.span_id, 16) for span, _ in follower.read()]
    assert ([], [], True) == (follower.read(), follower.open_spans, follower.is_idle)
    follower.close()
    run.clean()


def test_rotation_is_followed(run: Run) -> None:
    """Over many segments every span comes once and in order, while they are written and afterwards."""
    follower = run.follow()
    found = []
    for first in range(1, 5001, 250):
        write_spans(run.writer, 250, first=first)
        found += [int(span.span_id, 16) for span, _ in follower.read()]
    run.end()
    found += read_all(follower, is_over=True)
    assert 2 < len(list(run.folder.glob("*.seg")))
    assert list(range(1, 5001)) == found


def test_span_over_several_segments(run: Run) -> None:
    """A span that begins in one segment and ends in a later one comes out whole."""
    follower = run.follow()
    run.writer.start(Shared(), TRACE, 99_999, None, START_NS, ["a.csv"])
    write_spans(run.writer, 3000)
    run.writer.end(99_999, START_NS + 5)
    run.end()
    spans = [span for _ in range(50) for span, _ in follower.read(is_over=True)]
    (long,) = [span for span in spans if span.span_id == f"{99_999:016x}"]
    assert START_NS + 5 == long.end_ns
    assert ["a.csv"] == [pair.value.string_value for pair in parse_one(long).attributes]
    follower.close()


def test_place_of_a_span_is_where_its_end_was_read(run: Run) -> None:
    """Who starts at the place of a span gets only what came after it."""
    write_spans(run.writer, 10)
    follower = run.follow()
    found = follower.read()
    follower.close()
    for number, (_, position) in enumerate(found, 1):
        delivery = Delivery(positions={str(run.key): position})
        assert list(range(number + 1, 11)) == read_all(run.follow(delivery))


def test_open_spans_are_counted_by_their_segment(run: Run) -> None:
    """Of the segments that were left behind it is known how many of their spans are still open."""
    follower = run.follow()
    run.writer.start(Shared(), TRACE, 99_999, None, START_NS, [])
    write_spans(run.writer, 3000)
    while not follower.is_idle:
        follower.read()
    assert {1: 1} == follower.count_open_in()
    run.writer.end(99_999, START_NS + 5)
    follower.read()
    assert {} == follower.count_open_in()
    follower.close()


def test_segments_that_are_done_with_are_not_read_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a restart only the segments with starts of open spans are read, and what comes after them."""
    run.writer.start(Shared(), TRACE, 99_999, None, START_NS, [])
    write_spans(run.writer, 6000)
    follower = run.follow()
    while not follower.is_idle:
        follower.read()
    number = follower.position[0]
    assert number > 3
    key = str(run.key)
    delivery = Delivery(positions={key: follower.position}, cleared={key: number}, open_in={key: {1: 1}})
    follower.close()
    run.writer.end(99_999, START_NS + 5)
    again = run.follow(delivery)
    opened: list[int] = []
    for _ in range(20):
        again.read()
        opened.append(again.position[0])
    assert [1, number] == [segment for segment, _ in itertools.groupby(opened)]
    again.close()
    assert [99_999] == read_all(run.follow(delivery))


def test_interrupted_spans_have_places_too(run: Run) -> None:
    """What a dead process left open is in a fixed order, so that a restart goes on within it."""
    write_spans(run.writer, 5, is_ended=False)
    run.die()
    follower = run.follow()
    while not follower.is_idle:
        follower.read(is_over=True)
    left = follower.list_interrupted()
    follower.close()
    assert [1, 2, 3, 4, 5] == [int(span.span_id, 16) for span, _ in left]
    again = run.follow(Delivery(positions={str(run.key): left[2][1]}))
    while not again.is_idle:
        again.read(is_over=True)
    assert [4, 5] == [int(span.span_id, 16) for span, _ in again.list_interrupted()]
    again.close()


def test_torn_record_of_a_live_process_is_waited_for(run: Run) -> None:
    """What is being written is no damage: the follower stands before it until it is whole."""
    write_spans(run.writer, 3)
    (path,) = run.folder.glob("*.seg")
    frames = frames_of(path)
    torn = path.with_name(f"{run.key}-000009.seg")
    torn.write_bytes(b"".join(frames[:-1]) + frames[-1][:-3])
    path.unlink()
    follower = run.follow()
    assert [1, 2] == [int(span.span_id, 16) for span, _ in follower.read()]
    assert ([], 0) == (follower.read(), follower.damage.records)
    torn.write_bytes(b"".join(frames))
    assert [3] == read_all(follower)


def test_damage_is_passed_over_once_nobody_writes(run: Run) -> None:
    """In the segment of a dead process the intact spans behind a damaged place come out."""
    write_spans(run.writer, 9)
    run.die()
    (path,) = run.folder.glob("*.seg")
    data = bytearray(path.read_bytes())
    frames = frames_of(path)
    at = data.index(frames[4])
    data[at + 12] ^= 0xFF
    path.write_bytes(data)
    follower = run.follow()
    found = read_all(follower, is_over=True)
    assert set(found) < set(range(1, 10))
    assert 7 <= len(found)
    assert 1 == follower.damage.records


def test_damage_in_a_segment_with_a_successor_is_passed_over(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A live process that has gone on to the next segment writes no more into the damaged one."""
    write_spans(run.writer, 3000)
    first = min(run.folder.glob("*.seg"))
    data = bytearray(first.read_bytes())
    data[len(data) // 2] ^= 0xFF
    data[-3] ^= 0xFF  # the final tally too
    first.write_bytes(data)
    monkeypatch.setattr(follow, "_PATIENCE", -1)
    found = read_all(run.follow())
    assert 2990 < len(found) < 3000
    assert 3000 in found


def test_segment_that_is_evicted_before_it_was_opened_is_passed_over(run: Run) -> None:
    """What makes room under the follower's feet is counted by whoever does it; the follower goes on."""
    write_spans(run.writer, 5000)
    paths = sorted(run.folder.glob("*.seg"))
    follower = run.follow()
    first = [int(span.span_id, 16) for span, _ in follower.read()]
    paths[0].unlink()  # it is open: still read
    paths[1].unlink()
    found = first + read_all(follower)
    assert len(found) == len(set(found))
    assert {1, 5000} <= set(found)
    assert 5000 > len(found)


def test_segment_of_another_format_is_refused(run: Run) -> None:
    """A segment that this version cannot read is named."""
    write_spans(run.writer, 1)
    run.end()
    (path,) = run.folder.glob("*.seg")
    from otel_trace.journal.format import decode_payload, encode, pack_frame, unpack_payload

    data = path.read_bytes()
    payload = unpack_payload(data, 0)
    assert payload is not None
    record = decode_payload(payload)
    assert record is not None
    record[1]["format"] = 99
    path.write_bytes(pack_frame(encode(record)) + data[len(frames_of(path)[0]) :])
    follower = run.follow()
    read_all(follower, is_over=True)
    assert [f"{run.key}: format 99"] == follower.damage.segments_refused


def test_link_is_not_followed(run: Run, tmp_path: Path) -> None:
    """A symbolic link named like a segment is not opened."""
    (tmp_path / f"{run.key}-000001.seg").symlink_to("/etc/hostname")
    assert [] == read_all(run.follow())


def test_large_spans_come_in_chunks(tmp_path: Path) -> None:
    """A reader takes at most a chunk at a time, so memory does not grow with the journal."""
    run = Run(tmp_path, segment_bytes=4096 * KIB)
    for number in range(1, 2001):
        run.writer.start(Shared({"name": "x", "params": ["p"]}), TRACE, number, None, START_NS, ["y" * 2000])
        run.writer.end(number, START_NS + 1)
    follower = run.follow()
    counts = [len(follower.read()) for _ in range(12)]
    follower.close()
    run.clean()
    assert 2000 == sum(counts)
    assert 600 > max(counts)


@pytest.mark.parametrize(
    "record",
    [
        [3],
        [3, []],
        [3, {}, 1],
        [2],
        [2, [], 1, 2, 3, 4, 5],
        [4, [1]],
        [6, {}],
        [1],
        [5],
        [0],
        [99],
        [-1],
        [3, None, None],
    ],
)
def test_record_that_is_not_what_its_kind_promises_is_passed_over(run: Run, record: list[object]) -> None:
    """A frame that is intact and holds nonsense costs nothing but itself."""
    from otel_trace.journal.format import encode, pack_frame

    write_spans(run.writer, 1)
    run.writer.segment.write(pack_frame(encode(record)))
    write_spans(run.writer, 1, first=2)
    assert [1, 2] == read_all(run.follow())


def test_what_is_read_is_made_durable_once_a_second(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is waited for here, not in training: at most once a second, and only when there is something new."""
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", synced.append)
    follower = Follower(run.folder, run.key, Delivery())
    for number in range(1, 4):
        write_spans(run.writer, 1, first=number)
        assert 1 == len(follower.read())
    assert 1 == len(synced)
    monkeypatch.setattr(follow, "_SYNC_EVERY", 0.0)
    follower.read()
    assert 1 == len(synced)
    write_spans(run.writer, 1, first=4)
    follower.read()
    assert 2 == len(synced)
    follower.close()
