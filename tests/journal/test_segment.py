from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from otel_trace.journal.format import pack_frame
from otel_trace.journal.hold import take
from otel_trace.journal.reader import Damage, scan_frames
from otel_trace.journal.segment import AppendedSegment, MappedSegment, Segment, count_so_far
from tests.journal.factories import KIB

if TYPE_CHECKING:
    from pathlib import Path

FRAME = pack_frame(b"\x92\x02\x01")
TALLY = pack_frame(b"\x93\x05\x80\x01")
KINDS = [MappedSegment, AppendedSegment]
Kind = type[MappedSegment] | type[AppendedSegment]


def payloads(path: Path, damage: Damage | None = None) -> list[bytes]:
    """Return the intact payloads of a file."""
    return [payload for _, payload in scan_frames(path.read_bytes(), damage or Damage())]


def fill(segment: Segment) -> int:
    """Write until the segment refuses; return how many frames it took."""
    for number in range(10**6):
        try:
            segment.write(FRAME)
        except ValueError:
            return number
    raise AssertionError("never full")


@pytest.mark.parametrize("kind", KINDS)
def test_closed_segment_is_its_frames_and_the_tally(tmp_path: Path, kind: Kind) -> None:
    """Closing cuts the file to what was written, with the tally at its end."""
    path = tmp_path / "a.seg"
    segment = kind(path, 0o600, 64 * KIB)
    segment.write(FRAME)
    segment.close(TALLY)
    assert FRAME + TALLY == path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_file_is_for_its_owner_alone(tmp_path: Path, kind: Kind) -> None:
    """The mode is 0600, whatever the umask allows."""
    segment = kind(tmp_path / "a.seg", 0o600, 64 * KIB)
    segment.close(TALLY)
    assert 0o600 == (tmp_path / "a.seg").stat().st_mode & 0o777


@pytest.mark.parametrize("kind", KINDS)
def test_file_for_a_group_is_readable_to_it(tmp_path: Path, kind: Kind) -> None:
    """The mode asked for is given, also against the umask."""
    before = os.umask(0o077)
    try:
        segment = kind(tmp_path / "a.seg", 0o640, 64 * KIB)
    finally:
        os.umask(before)
    segment.close(TALLY)
    assert 0o640 == (tmp_path / "a.seg").stat().st_mode & 0o777


@pytest.mark.parametrize("kind", KINDS)
def test_existing_file_is_never_opened(tmp_path: Path, kind: Kind) -> None:
    """A file or a symbolic link in the place of a new segment is refused, not followed."""
    (tmp_path / "file.seg").touch()
    (tmp_path / "link.seg").symlink_to(tmp_path / "elsewhere")
    for name in ("file.seg", "link.seg"):
        with pytest.raises(FileExistsError):
            kind(tmp_path / name, 0o600, 64 * KIB)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_full_segment_refuses_whole_frames(tmp_path: Path, kind: Kind) -> None:
    """What does not fit is refused with ValueError, and nothing of it is in the file."""
    path = tmp_path / "a.seg"
    segment = kind(path, 0o600, 64 * KIB)
    number = fill(segment)
    segment.close(TALLY)
    assert FRAME * number + TALLY == path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_closed_segment_refuses(tmp_path: Path, kind: Kind) -> None:
    """A record that comes too late finds the segment closed, and goes elsewhere."""
    segment = kind(tmp_path / "a.seg", 0o600, 64 * KIB)
    segment.close(TALLY)
    with pytest.raises(ValueError, match="closed"):
        segment.write(FRAME)


@pytest.mark.parametrize("kind", KINDS)
def test_tally_of_an_open_segment_is_read(tmp_path: Path, kind: Kind) -> None:
    """The losses are in the file while it is open, the newest among them."""
    path = tmp_path / "a.seg"
    segment = kind(path, 0o600, 64 * KIB)
    tallies = [pack_frame(bytes([0x93, 5, 0x81, 0xA1, 97, number, 0xC0])) for number in range(5)]
    for tally in tallies:
        segment.write_tally(tally)
    damage = Damage()
    found = payloads(path, damage)
    segment.abandon()
    assert tallies[-1][10:] in found
    assert not damage


def test_tally_is_kept_when_the_segment_is_full(tmp_path: Path) -> None:
    """A mapped segment has a page for it, so that a full disk is counted on the disk."""
    path = tmp_path / "a.seg"
    segment = MappedSegment(path, 0o600, 64 * KIB)
    fill(segment)
    segment.write_tally(TALLY)
    found = payloads(path)
    segment.abandon()
    assert TALLY[10:] == found[-1]


def test_new_tally_leaves_the_one_before(tmp_path: Path) -> None:
    """A kill while the tally is written costs that one alone: it is not written over the last."""
    path = tmp_path / "a.seg"
    segment = MappedSegment(path, 0o600, 64 * KIB)
    segment.write_tally(TALLY)
    segment.write_tally(pack_frame(b"\x93\x05\x80\x02"))
    found = payloads(path)
    segment.abandon()
    assert [b"\x93\x05\x80\x01", b"\x93\x05\x80\x02"] == found


def test_mapped_segment_is_really_allocated(tmp_path: Path) -> None:
    """Every block is there before it is mapped: a hole on a full disk would kill the program."""
    path = tmp_path / "a.seg"
    segment = MappedSegment(path, 0o600, 64 * KIB)
    num_blocks = path.stat().st_blocks
    segment.abandon()
    assert 64 * KIB <= num_blocks * 512


def test_frame_of_another_thread_survives_the_closing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written between asking for the length and closing is not cut off."""
    path = tmp_path / "a.seg"
    segment = MappedSegment(path, 0o600, 64 * KIB)
    segment.write(FRAME)

    class Slow:
        """A map that another thread writes to after it told its length."""

        def __init__(self, real: object) -> None:
            self.real = real

        def tell(self) -> int:
            used: int = self.real.tell()  # type: ignore[attr-defined]
            segment.write(FRAME)
            segment.write(FRAME)
            return used

        def close(self) -> None:
            self.real.close()  # type: ignore[attr-defined]

    monkeypatch.setattr(segment, "_map", Slow(segment._map))
    segment.close(TALLY)
    assert FRAME * 3 + TALLY == path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_nameless_segment_is_noticed_and_taken_back(tmp_path: Path, kind: Kind) -> None:
    """A segment whose file was removed says so and still gives what was written."""
    path = tmp_path / "a.seg"
    segment = kind(path, 0o600, 64 * KIB)
    segment.write(FRAME)
    assert segment.is_there()
    path.unlink()
    assert not segment.is_there()
    assert segment.take_back() == FRAME


def test_mapped_segment_is_held_until_its_last_process_lets_go(tmp_path: Path) -> None:
    """Nobody else can take the file while it is mapped; afterwards anybody can."""
    path = tmp_path / "a.seg"
    segment = MappedSegment(path, 0o600, 64 * KIB)
    program = (
        f"import os; from otel_trace.journal.hold import take; print(take(os.open({str(path)!r}, os.O_RDWR)))"
    )

    def ask() -> str:
        return subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout.strip()

    assert ask() == "False"
    segment.close(TALLY)
    assert ask() == "True"


def test_file_without_locks_is_not_taken() -> None:
    """Where nobody can tell whether a file is in use, it counts as used."""
    assert not take(10**6)


@pytest.mark.parametrize("kind", KINDS)
def test_flushing_and_writeback_are_harmless(tmp_path: Path, kind: Kind) -> None:
    """Both can be asked of either kind at any time."""
    segment = kind(tmp_path / "a.seg", 0o600, 64 * KIB)
    segment.write(FRAME)
    segment.start_writeback()
    segment.flush()
    segment.close(TALLY)


def test_counter_tells_how_often_it_was_advanced(tmp_path: Path) -> None:
    """The number of starts is read without advancing it."""
    segment = MappedSegment(tmp_path / "a.seg", 0o600, 64 * KIB)
    next(segment.starts)
    next(segment.starts)
    assert [2, 2] == [count_so_far(segment.starts), count_so_far(segment.starts)]
    segment.abandon()
