from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from otel_trace.errors import FolderRefused
from otel_trace.journal.spans import read_run
from otel_trace.journal.writer import Writer
from tests.journal.factories import (
    MODES,
    TRACE,
    Shared,
    describe,
    failing_place,
    make_place,
    messages,
    write_spans,
    writing,
)

if TYPE_CHECKING:
    from pathlib import Path

    from otel_trace.journal.place import Place

MAPPED = pytest.mark.parametrize("is_mapped", [True, False], ids=MODES)


@MAPPED
def test_removed_folder_is_made_again_with_what_was_in_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, is_mapped: bool
) -> None:
    """The current segment is saved when its folder goes; the closed ones are counted as removed."""
    folder = tmp_path / "run"
    with writing(folder, is_mapped=is_mapped) as writer:
        write_spans(writer, 2000)
        kept = len(read_run_of(folder, writer.segment.path.name))
        shutil.rmtree(folder)
        writer._next_tick = 0
        write_spans(writer, 10, first=5000)
    run = read_run(folder)
    assert (2010, 10 + kept) == (run.ledger["created"], len(run.spans))
    assert 2000 - kept == run.ledger["removed"]
    assert [f"otel_trace: the folder {folder} was removed while in use; making it again"] == messages(caplog)


def read_run_of(folder: Path, name: str) -> list[Any]:
    """Return the starts in one segment."""
    from otel_trace.journal.format import Kind
    from otel_trace.journal.reader import Damage, read_segment

    segment = read_segment(folder / name, Damage())
    return [record for record in segment.records if record[0] == Kind.START] if segment else []


@pytest.mark.parametrize("when", ["full", "closed", "flushed"])
def test_removal_is_noticed_at_the_latest_when_the_segment_ends(tmp_path: Path, when: str) -> None:
    """Also without a tick in between no span goes uncounted."""
    folder = tmp_path / "run"
    with writing(folder) as writer:
        write_spans(writer, 10)
        shutil.rmtree(folder)
        writer._next_tick = 2**63
        if when == "full":
            write_spans(writer, 1000, first=11)
    run = read_run(folder)
    assert len(run.spans) == (1010 if when == "full" else 10)
    assert 0 == run.ledger["removed"]


def test_folder_that_cannot_be_made_again_is_counted(tmp_path: Path) -> None:
    """Where the folder's place is taken, what was in it is counted as removed."""
    folder = tmp_path / "run"
    places = [make_place(folder)]

    def open_place() -> Place:
        return places.pop() if places else failing_place(FolderRefused("taken"))()

    writer = Writer(open_place, describe)
    write_spans(writer, 10)
    shutil.rmtree(folder)
    writer.close()
    assert 10 == writer.ledger.lost["removed"]


def test_tick_does_not_depend_on_the_times_of_spans(tmp_path: Path) -> None:
    """A span that says it starts in a thousand years does not end the watch over the folder."""
    folder = tmp_path / "run"
    with writing(folder) as writer:
        write_spans(writer, 1)
        writer.start(Shared(), TRACE, 2, None, 2**63 - 1, [])
        shutil.rmtree(folder)
        writer.start(Shared(), TRACE, 3, None, 2**63 - 1, [])
        assert folder.exists()
