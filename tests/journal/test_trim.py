from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from otel_trace.journal import reader
from otel_trace.journal.hold import take
from otel_trace.journal.reader import Damage
from otel_trace.journal.segment import create_file
from otel_trace.journal.trim import cut_to_length, read_contents
from tests.journal.factories import DEAD, fill_with, frames_of, is_cut, make_writer, write_spans

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_killed_segment_is_cut_to_what_it_holds(tmp_path: Path) -> None:
    """The records stay, the rest of the allocated blocks becomes free, the time stays."""
    path = fill_with(tmp_path, 3, close=False)
    before = path.stat()
    frames = frames_of(path)
    freed = cut_to_length(path)
    assert is_cut(path)
    assert 60 * 1024 <= freed
    assert frames == frames_of(path)[: len(frames)]
    assert before.st_mtime_ns == path.stat().st_mtime_ns


def test_cut_segment_ends_with_its_number_of_spans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was counted while cutting need not be counted again."""
    path = fill_with(tmp_path, 3, close=False)
    cut_to_length(path)
    monkeypatch.setattr(reader, "unpack_payload", None)  # scanning would fail
    assert 3 == read_contents(path).starts


def test_losses_of_a_killed_process_are_kept(tmp_path: Path) -> None:
    """The tally moves from the reserved page to the end."""
    writer = make_writer(tmp_path)
    writer.event(1, 1, "opened", {})
    writer._lose("no_space")
    path = writer.segment.path
    writer.after_fork()
    cut_to_length(path)
    assert Counter(no_space=1) == read_contents(path).lost


def test_segment_in_use_is_not_cut(tmp_path: Path) -> None:
    """A segment that somebody maps is left alone, also when its process cannot be seen from here."""
    writer = make_writer(tmp_path)
    writer.event(1, 1, "opened", {})
    path = writer.segment.path
    assert 0 == cut_to_length(path)
    assert not is_cut(path)
    writer.close()


def test_closed_segment_is_left_alone(tmp_path: Path) -> None:
    """There is nothing to cut off a segment that was closed."""
    path = fill_with(tmp_path, 3)
    before = path.read_bytes()
    assert 0 == cut_to_length(path)
    assert before == path.read_bytes()


def test_torn_record_stays_to_be_counted(tmp_path: Path) -> None:
    """The record that the kill tore is damage before the cut and after it."""
    path = fill_with(tmp_path, 3, close=False)
    end = sum(map(len, frames_of(path)))
    with path.open("r+b") as file:
        file.seek(end)
        file.write(frames_of(path)[-1][:20])
    cut_to_length(path)
    damage = Damage()
    reader.read_segment(path, damage)
    assert (1, 20) == (damage.records, damage.num_bytes)


def test_cutting_twice_is_cutting_once(tmp_path: Path) -> None:
    """Two processes that cut the same segment leave the same file."""
    path = fill_with(tmp_path, 3, close=False)
    cut_to_length(path)
    once = path.read_bytes()
    os.truncate(path, 64 * 1024)  # as the other one, which read it before, sees it
    cut_to_length(path)
    assert once == path.read_bytes()[: len(once)]


def test_contents_of_a_killed_segment_are_counted(tmp_path: Path) -> None:
    """Without a final tally the spans are counted one by one."""
    assert 5 == read_contents(fill_with(tmp_path, 5, key=DEAD, close=False)).starts


def test_segment_that_was_just_created_is_left_alone(tmp_path: Path) -> None:
    """It is empty until it is allocated, and then it is held."""
    path = tmp_path / f"{DEAD}-000001.seg"
    path.touch()
    assert 0 == cut_to_length(path)
    assert b"" == path.read_bytes()


def test_segment_taken_before_it_was_held_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer whose new file another process has taken goes on with another file."""
    taken: list[int] = []

    def create_taken(path: Path, mode: int) -> int:
        fd = create_file(path, mode)
        if not taken:
            taken.append(os.open(path, os.O_RDWR))
            assert take(taken[0])
        return fd

    monkeypatch.setattr("otel_trace.journal.segment.create_file", create_taken)
    writer = make_writer(tmp_path)
    write_spans(writer, 1)
    name = writer.segment.path.name
    writer.close()
    os.close(taken[0])
    assert [name] == [path.name for path in tmp_path.iterdir()]
    assert name.endswith("-000002.seg")
