from __future__ import annotations

import os
from typing import TYPE_CHECKING

from otel_trace.journal import reader
from otel_trace.journal.format import pack_frame, unpack_payload
from otel_trace.journal.reader import Damage, read_segment, scan_frames
from tests.journal.factories import DEAD, fill_with, frames_of, make_writer, write_spans

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

FRAMES = [pack_frame(bytes([0x92, 2, number])) for number in range(5)]


def found(data: bytes, *, is_live: bool = False) -> tuple[list[bytes], Damage]:
    """Return the intact frames in some data, and what is damaged."""
    damage = Damage()
    return [pack_frame(payload) for _, payload in scan_frames(data, damage, is_live=is_live)], damage


def test_unused_part_is_no_damage() -> None:
    """Zeros up to the tally, between its halves and behind it were never written."""
    tally = pack_frame(b"\x93\x05\x80\xc0")
    frames, damage = found(b"".join(FRAMES) + bytes(1000) + tally + bytes(100) + tally + bytes(50))
    assert [*FRAMES, tally, tally] == frames
    assert not damage


def test_zeros_between_records_are_damage() -> None:
    """A page of zeros in the middle was a page of records."""
    frames, damage = found(FRAMES[0] + bytes(500) + FRAMES[1])
    assert FRAMES[:2] == frames
    assert (1, 500) == (damage.records, damage.num_bytes)


def test_torn_end_is_damage_of_a_dead_process_only() -> None:
    """In a live segment the last bytes are a record that is being written."""
    data = FRAMES[0] + FRAMES[1][:-2]
    assert (1, 11) == (found(data)[1].records, found(data)[1].num_bytes)
    assert not found(data, is_live=True)[1]


def test_search_for_frames_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """In data made of magics with plausible lengths no more is checksummed than the data's length allows."""
    checked = 0
    real = unpack_payload

    def count(data: bytes, offset: int) -> bytes | None:
        nonlocal checked
        checked += 500_000
        return real(data, offset)

    monkeypatch.setattr(reader, "unpack_payload", count)
    hostile = (b"OT" + (500_000).to_bytes(4, "little") + bytes(4) + b"\x92\x02") * 200_000
    _, damage = found(hostile)
    assert 1 == damage.records
    assert 17 * len(hostile) + 2**21 >= checked


def test_frames_after_hostile_data_within_the_bound_are_found() -> None:
    """A little of such data does not hide what follows."""
    hostile = (b"OT" + (9_000).to_bytes(4, "little") + bytes(4) + b"\x92\x02") * 5
    assert FRAMES == found(hostile + b"".join(FRAMES))[0]


def test_file_that_is_no_file_is_refused(tmp_path: Path) -> None:
    """Pipes, folders and links are named and not waited for."""
    paths = [tmp_path / f"{DEAD}-{number:06d}.seg" for number in range(3)]
    os.mkfifo(paths[0])
    paths[1].mkdir()
    paths[2].symlink_to("/etc/passwd")
    for path in paths:
        damage = Damage()
        assert read_segment(path, damage) is None
        assert [path.name] == [refused.split(":")[0] for refused in damage.segments_refused]


def test_missing_file_is_no_damage(tmp_path: Path) -> None:
    """A segment may be evicted between looking and reading."""
    damage = Damage()
    assert read_segment(tmp_path / "gone.seg", damage) is None
    assert not damage


def test_giant_file_is_read_in_part(tmp_path: Path) -> None:
    """Of a file beyond any segment's size only the beginning is read; the rest is damage."""
    path = fill_with(tmp_path, 3)
    os.truncate(path, 2**40)
    damage = Damage()
    segment = read_segment(path, damage)
    assert segment is not None
    assert (1, 2**40 - 64 * 2**20) == (damage.records, damage.num_bytes)


def test_live_segment_is_read_again_when_a_gap_may_be_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records that appear behind a page already read make a gap once, not damage."""
    path = fill_with(tmp_path, 3)
    whole = path.read_bytes()
    begin = len(frames_of(path)[0])
    reads = [whole[:begin] + bytes(30) + whole[begin + 30 :], whole]
    monkeypatch.setattr(reader, "read_bytes", lambda _: (reads.pop(0), 0))
    damage = Damage()
    segment = read_segment(path, damage, is_live=True)
    assert not damage
    assert segment is not None
    assert 3 == sum(record[0] == 2 for record in segment.records)


def test_real_damage_in_a_live_segment_is_counted_once(tmp_path: Path) -> None:
    """What is still there after reading again is damage."""
    writer = make_writer(tmp_path)
    write_spans(writer, 3)
    path = writer.segment.path
    with path.open("r+b") as file:
        file.seek(len(frames_of(path)[0]))
        file.write(bytes(12))
    damage = Damage()
    read_segment(path, damage, is_live=True)
    writer.close()
    assert 1 == damage.records
