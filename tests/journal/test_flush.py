from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from otel_trace.journal.writer import Writer
from tests.journal.factories import (
    MODES,
    START_NS,
    TRACE,
    Shared,
    describe,
    failing_place,
    write_spans,
    writing,
)

if TYPE_CHECKING:
    from pathlib import Path

MAPPED = pytest.mark.parametrize("is_mapped", [True, False], ids=MODES)


@MAPPED
def test_flush_waits_for_the_closed_segments_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_mapped: bool
) -> None:
    """Everything written before is asked of the disk, each closed segment once."""
    with writing(tmp_path, is_mapped=is_mapped) as writer:
        write_spans(writer, 2000)
        num_closed = len(list(tmp_path.glob("*.seg"))) - 1
        synced: list[int] = []
        monkeypatch.setattr(os, "fsync", synced.append)
        assert writer.flush()
        assert num_closed + 1 == len(synced)
        assert writer.flush()
        assert num_closed + 2 == len(synced)


def test_flush_is_false_when_something_was_lost_since_the_last(tmp_path: Path) -> None:
    """A loss is told by one flush, not for ever."""
    with writing(tmp_path) as writer:
        write_spans(writer, 1)
        assert writer.flush()
        writer.start(Shared(), TRACE, 2, None, START_NS, [object()])
        assert [False, True] == [writer.flush(), writer.flush()]


def test_flush_with_nothing_open_tells_the_loss() -> None:
    """Where nothing could ever be written flush is not true."""
    writer = Writer(failing_place(OSError(errno.EROFS, "Read-only file system")), describe)
    assert writer.flush()
    write_spans(writer, 1)
    assert not writer.flush()


def test_flush_is_false_when_the_disk_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the disk is an answer, not an exception."""
    with writing(tmp_path) as writer:
        write_spans(writer, 1)

        def fail(descriptor: int) -> None:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "fsync", fail)
        assert not writer.flush()
        monkeypatch.undo()
