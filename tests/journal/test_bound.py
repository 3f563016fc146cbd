from __future__ import annotations

import os
import threading
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from otel_trace.cluster.process import ProcessKey, this_process
from otel_trace.journal import bound, trim
from otel_trace.journal.bound import make_room, parse_name
from otel_trace.journal.delivery import Delivery, write_delivery
from otel_trace.journal.spans import read_run
from tests.journal.factories import (
    DEAD,
    KIB,
    MODES,
    bury,
    die,
    fill_with,
    is_cut,
    make_place,
    make_writer,
    write_spans,
    writing,
)

if TYPE_CHECKING:
    from pathlib import Path


def dead(number: int) -> ProcessKey:
    """Return one of many processes that are no more."""
    return ProcessKey(DEAD.pid - number, 7)


def disk_bytes(folder: Path) -> int:
    """Return what the segments of a folder take on the disk."""
    return sum(path.stat().st_blocks * 512 for path in folder.glob("*.seg"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("12-34-000005.seg", (ProcessKey(12, 34), 5)),
        ("12-34-000005.part", None),
        ("12-34.seg", None),
        ("a-b-c.seg", None),
        ("12-34-²³.seg", None),
        (".seg", None),
    ],
)
def test_name_tells_whose_segment_it_is(name: str, expected: tuple[ProcessKey, int] | None) -> None:
    """A segment is named by process, its start and a number; all else is no segment."""
    assert expected == parse_name(name)


@pytest.mark.parametrize("is_mapped", [True, False], ids=MODES)
def test_journal_stays_within_its_bound(tmp_path: Path, *, is_mapped: bool) -> None:
    """However much is written, the folder does not grow beyond the bound, and nothing is lost uncounted."""
    largest = 0
    with writing(tmp_path, max_bytes=300 * KIB, is_mapped=is_mapped) as writer:
        for first in range(1, 6001, 200):
            write_spans(writer, 200, first=first)
            largest = max(largest, disk_bytes(tmp_path))
    run = read_run(tmp_path)
    assert 300 * KIB >= largest
    assert 0 < run.ledger["evicted"]
    assert 6000 == run.ledger["evicted"] + len(run.spans) == run.ledger["created"]


def test_oldest_goes_first(tmp_path: Path) -> None:
    """The spans that are left are those of the process's beginning, and the newest ones."""
    with writing(tmp_path, max_bytes=300 * KIB) as writer:
        write_spans(writer, 6000)
    left = [int(span.span_id, 16) for span in read_run(tmp_path).spans]
    (gap,) = [number for number, following in pairwise(left) if following != number + 1]
    assert [*range(1, gap + 1), *range(6001 - len(left) + gap, 6001)] == left


def test_first_segment_goes_when_nothing_else_does(tmp_path: Path) -> None:
    """The bound holds also against the beginning of a live process."""
    with writing(tmp_path, max_bytes=140 * KIB) as writer:
        write_spans(writer, 6000)
        assert 140 * KIB >= disk_bytes(tmp_path)
    assert 1 not in {int(span.span_id, 16) for span in read_run(tmp_path).spans}


def test_span_that_lasts_as_long_as_its_process_is_kept(tmp_path: Path) -> None:
    """A span opened at the beginning ends where it began, however much was evicted between."""
    with writing(tmp_path, max_bytes=300 * KIB) as writer:
        write_spans(writer, 1, is_ended=False)
        write_spans(writer, 6000, first=2)
        writer.end(1, 2**62)
    assert [2**62] == [span.end_ns for span in read_run(tmp_path).spans if int(span.span_id, 16) == 1]


def test_newest_segment_of_a_live_process_stays(tmp_path: Path) -> None:
    """What another live process writes is not touched, however old it is."""
    other = this_process()
    path = fill_with(tmp_path, 3, key=ProcessKey(os.getppid(), bound_start(os.getppid())))
    os.utime(path, (1, 1))
    with writing(tmp_path, max_bytes=200 * KIB) as writer:
        write_spans(writer, 6000)
    assert path.exists()
    assert other == this_process()


def bound_start(pid: int) -> int:
    """Return when a live process began."""
    from otel_trace.cluster.process import read_start

    return read_start(pid) or 0


def test_killed_segments_are_cut_before_anything_is_evicted(tmp_path: Path) -> None:
    """Segments that killed workers left at full length give room without a span being lost."""
    for number in range(8):
        fill_with(tmp_path, 3, key=dead(number), close=False)
    lost = make_room(make_place(tmp_path, max_bytes=300 * KIB), "", {})
    assert Counter() == lost
    assert 8 == len(list(tmp_path.glob("*.seg")))
    assert 236 * KIB >= disk_bytes(tmp_path)
    assert any(is_cut(path) for path in tmp_path.glob("*.seg"))


def test_losses_of_a_process_are_taken_over_with_its_last_segment(tmp_path: Path) -> None:
    """What a dead process had lost stays in the ledger when its segments are evicted."""
    writer = make_writer(tmp_path)
    write_spans(writer, 3)
    writer.ledger.count("no_space", 4)
    writer.close()
    bury(tmp_path)
    lost = make_room(make_place(tmp_path, max_bytes=64 * KIB), "", {})
    assert Counter(evicted=3, no_space=4) == lost


def test_only_one_of_two_counts_what_both_evict(tmp_path: Path) -> None:
    """Two that make room at once delete each segment once, and count it once."""
    for number in range(40):
        fill_with(tmp_path, 10, key=dead(number))
    place = make_place(tmp_path, max_bytes=64 * KIB)
    losses: list[Counter[str]] = []
    threads = [threading.Thread(target=lambda: losses.append(make_room(place, "", {}))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(evicted=400) == sum(losses, Counter())


def test_evicted_by_another_process_is_not_counted_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A segment that vanishes between looking and deleting is the other one's to count."""
    fill_with(tmp_path, 10)
    read = trim.read_contents

    def vanish(path: Path) -> object:
        contents = read(path)
        path.unlink()
        return contents

    monkeypatch.setattr(bound, "read_contents", vanish)
    assert Counter() == make_room(make_place(tmp_path, max_bytes=64 * KIB), "", {})


def test_own_segments_are_not_read_to_be_evicted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process knows how many spans began in its segments."""
    monkeypatch.setattr(bound, "read_contents", None)  # reading would fail
    with writing(tmp_path, max_bytes=200 * KIB) as writer:
        write_spans(writer, 3000)
        assert 0 < writer.ledger.lost["evicted"]


def test_delivered_segments_go_first(tmp_path: Path) -> None:
    """What has been delivered makes room before what has not, though it is newer, and is no loss."""
    old, new = fill_with(tmp_path, 5, key=dead(1)), fill_with(tmp_path, 7, key=dead(2))
    os.utime(old, (1, 1))
    write_delivery(tmp_path, Delivery(cleared={str(dead(2)): 2}))
    assert Counter(gone_delivered=7) == make_room(make_place(tmp_path, max_bytes=68 * KIB), "", {})
    assert [True, False] == [old.exists(), new.exists()]


def test_spans_of_a_delivered_segment_that_are_open_are_lost(tmp_path: Path) -> None:
    """The shipper knows how many spans of it had not ended: those are evicted, the others gone."""
    fill_with(tmp_path, 7)
    write_delivery(tmp_path, Delivery(cleared={str(DEAD): 2}, open_in={str(DEAD): {1: 3}}))
    assert Counter(evicted=3, gone_delivered=4) == make_room(make_place(tmp_path, max_bytes=KIB), "", {})


def test_ledger_closes_over_delivered_segments(tmp_path: Path) -> None:
    """Created = in the journal + gone once delivered + evicted; a flush knows no loss in what was delivered."""
    with writing(tmp_path, max_bytes=300 * KIB) as writer:
        write_spans(writer, 1)
        write_delivery(tmp_path, Delivery(cleared={str(this_process()): 1000}))
        write_spans(writer, 6000, first=2)
        assert writer.flush()
    ledger = read_run(tmp_path).ledger
    assert 6001 == ledger["created"] == ledger["journal"] + ledger["gone_delivered"]


def test_span_open_across_an_eviction_is_counted(tmp_path: Path) -> None:
    """An open span that began in an evicted segment is in the ledger, its end an orphan."""
    with writing(tmp_path, max_bytes=140 * KIB) as writer:
        write_spans(writer, 1, is_ended=False)
        write_spans(writer, 4000, first=2)
        writer.end(1, 1)
        run = read_run(tmp_path)
    assert 4001 == run.ledger["created"]
    assert 1 <= run.damage.orphans


def test_what_is_no_segment_is_not_touched(tmp_path: Path) -> None:
    """Links, folders, pipes and other files stay, also when they are named like segments."""
    (tmp_path / "notes.txt").write_text("kept")
    (tmp_path / f"{DEAD}-000001.seg").symlink_to(tmp_path / "notes.txt")
    (tmp_path / f"{DEAD}-000002.seg").mkdir()
    os.mkfifo(tmp_path / f"{DEAD}-000003.seg")
    make_room(make_place(tmp_path, max_bytes=1), "", {})
    assert 4 == len(list(tmp_path.iterdir()))


def test_killed_segment_counts_when_it_is_evicted(tmp_path: Path) -> None:
    """Spans of a killed process are counted from its records."""
    writer = make_writer(tmp_path)
    write_spans(writer, 7, is_ended=False)
    die(writer)
    bury(tmp_path)
    assert Counter(evicted=7) == make_room(make_place(tmp_path, max_bytes=64 * KIB), "", {})
