from __future__ import annotations

import contextlib
import errno
import os
import shutil
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from otel_trace import _guard
from otel_trace.errors import FolderRefused
from otel_trace.journal import rotation
from otel_trace.journal.spans import read_run
from otel_trace.journal.writer import Writer
from tests.journal.factories import (
    KIB,
    MODES,
    START_NS,
    TRACE,
    Shared,
    describe,
    is_cut,
    make_place,
    make_writer,
    write_spans,
    writing,
)

if TYPE_CHECKING:
    from otel_trace.journal.place import Place

MAPPED = pytest.mark.parametrize("is_mapped", [True, False], ids=MODES)


@pytest.fixture(autouse=True)
def tell_again() -> None:
    """Let each test hear what is told once."""
    _guard.forget_what_was_told()


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what was told."""
    return [record.getMessage() for record in caplog.records]


@MAPPED
def test_full_segment_is_followed_by_the_next(tmp_path: Path, *, is_mapped: bool) -> None:
    """Every span is in some segment, and all but the current one are cut to their length."""
    with writing(tmp_path, is_mapped=is_mapped) as writer:
        write_spans(writer, 3000)
        assert [] == [path for path in sorted(tmp_path.glob("*.seg"))[:-1] if not is_cut(path)]
    run = read_run(tmp_path)
    assert 3000 == len(run.spans)
    assert not any(span.is_open for span in run.spans)


def test_first_segment_is_small(tmp_path: Path) -> None:
    """A process that writes little does not take the room of one that writes much."""
    with writing(tmp_path, segment_bytes=8192 * KIB) as writer:
        write_spans(writer, 1)
        first = writer.segment.path.stat().st_size
        write_spans(writer, 20_000)
        assert [1024 * KIB, 8192 * KIB] == [first, writer.segment.path.stat().st_size]


def failing_place(error: Exception) -> Any:
    """Return what opens no place."""

    def open_place() -> Place:
        raise error

    return open_place


@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left on device"), FolderRefused("a symbolic link"), RuntimeError("bug")],
)
def test_loss_is_counted_and_told_once(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    """Where no segment can be opened spans are counted as lost, with one line whatever their number."""
    writer = Writer(failing_place(error), describe)
    assert 0 == write_spans(writer, 5)
    assert {"no_space": 5, "end_no_space": 5} == writer.ledger.lost
    assert [
        f"otel_trace: cannot write the journal ({error}); spans are lost and counted until it can"
    ] == messages(caplog)


def test_disk_is_tried_again_after_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes once there is room again is written, and the loss before it is in the ledger."""
    now = 10**12
    monkeypatch.setattr(rotation, "monotonic_ns", lambda: now)
    attempts = []

    def open_place() -> Place:
        attempts.append(now)
        if now < 10**12 + 10**9:
            raise OSError(errno.ENOSPC, "No space left on device")
        return make_place(tmp_path)

    writer = Writer(open_place, describe)
    write_spans(writer, 3)
    now += 10**9
    write_spans(writer, 2, first=4)
    writer.close()
    assert 2 == len(attempts)
    assert {"created": 5, "journal": 2, "no_space": 3, "end_no_space": 3} == read_run(tmp_path).ledger


def test_failing_segment_is_followed_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails costs nothing when the next segment takes it."""
    with writing(tmp_path, is_mapped=False) as writer:
        write_spans(writer, 1)

        def fail(frame: bytes) -> int:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(writer.segment, "write", fail)
        write_spans(writer, 1, first=2)
    assert 2 == len(read_run(tmp_path).spans)


@MAPPED
def test_segment_that_cannot_begin_leaves_nothing(tmp_path: Path, *, is_mapped: bool) -> None:
    """An opening that fails half way leaves no file and no descriptor, so that retries do not pile up."""
    num_descriptors = len(list(Path("/proc/self/fd").iterdir()))

    def fail(key: object, number: int) -> dict[str, Any]:
        raise OSError(errno.ENOSPC, "No space left on device")

    writer = Writer(lambda: make_place(tmp_path, is_mapped=is_mapped), fail)
    write_spans(writer, 2)
    assert [] == list(tmp_path.iterdir())
    assert num_descriptors == len(list(Path("/proc/self/fd").iterdir()))


def refuse(frame: bytes) -> int:
    """Refuse a frame as a full segment does."""
    raise ValueError("full")


@MAPPED
@pytest.mark.parametrize("state", ["nothing open", "full"])
def test_handler_that_emits_while_a_segment_is_opened(tmp_path: Path, state: str, *, is_mapped: bool) -> None:
    """A signal handler or finalizer in the middle of an opening loses nothing and leaves nothing open."""
    writer = make_writer(tmp_path, is_mapped=is_mapped)
    if state == "full":
        write_spans(writer, 1)
        writer.segment.write = refuse
    calls: list[int] = []
    real = writer._describe

    def describe_interrupted(*arguments: Any) -> dict[str, Any]:
        if not calls:
            calls.append(1)
            write_spans(writer, 1, first=500)
        return real(*arguments)

    writer._describe = describe_interrupted
    writer._replace(writer.segment)
    write_spans(writer, 1, first=501)
    current = writer.segment.path
    writer.close()
    run = read_run(tmp_path)
    assert {"00000000000001f4", "00000000000001f5"} <= {span.span_id for span in run.spans}
    assert is_cut(current)
    assert all(is_cut(path) for path in tmp_path.glob("*.seg"))
    assert not run.damage


def test_child_forked_while_a_segment_is_opened_has_its_own(tmp_path: Path) -> None:
    """A fork in the middle of an opening leaves parent and child with a segment each."""
    writer = make_writer(tmp_path)
    children: list[int] = []
    real = writer._describe

    def describe_forking(*arguments: Any) -> dict[str, Any]:
        if not children:
            children.append(os.fork())
            if children[0] == 0:
                writer.after_fork()
        return real(*arguments)

    writer._describe = describe_forking
    write_spans(writer, 100)
    writer.close()
    if children[0] == 0:
        os._exit(0)
    os.waitpid(children[0], 0)
    run = read_run(tmp_path)
    assert [100, 100] == sorted(Counter(span.process.key for span in run.spans).values())
    assert not run.damage


def test_child_opens_its_place_itself(tmp_path: Path) -> None:
    """What opening the place does for a process (the end of a worker closes its journal) it does for a child too."""
    opened = []

    def open_place() -> Place:
        opened.append(1)
        return make_place(tmp_path)

    writer = Writer(open_place, describe)
    write_spans(writer, 1)
    writer.after_fork()
    write_spans(writer, 1)
    writer.close()
    assert [1, 1] == opened


def test_end_of_the_stack_is_no_failure_of_the_disk(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A span lost where the program's stack ends does not stop the ones after it."""
    attempts = []

    def open_place() -> Place:
        attempts.append(1)
        if len(attempts) == 1:
            raise RecursionError("maximum recursion depth exceeded")
        return make_place(tmp_path)

    with contextlib.closing(Writer(open_place, describe)) as writer:
        assert 0 == write_spans(writer, 1, is_ended=False)
        assert 1 == write_spans(writer, 1, first=2)
        assert Counter(no_space=1) == writer.ledger.lost
    assert [] == messages(caplog)


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


@MAPPED
def test_threads_lose_nothing_across_rotations(tmp_path: Path, *, is_mapped: bool) -> None:
    """Four threads through dozens of segments: every span that was taken is there and ended."""
    with writing(tmp_path, is_mapped=is_mapped, segment_bytes=16 * KIB) as writer:

        def emit(thread: int) -> None:
            taken.append(write_spans(writer, 1000, first=thread * 10_000 + 1))

        taken: list[int] = []
        threads = [threading.Thread(target=emit, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    run = read_run(tmp_path)
    assert (4000, 4000) == (sum(taken), len(run.spans))
    assert not any(span.is_open for span in run.spans)
    assert not run.damage


def test_closed_writer_opens_another_segment(tmp_path: Path) -> None:
    """A record that comes after the end is kept as well."""
    with writing(tmp_path) as writer:
        write_spans(writer, 1)
        writer.close()
        write_spans(writer, 1, first=2)
    assert 2 == len(list(tmp_path.glob("*.seg")))
    assert 2 == len(read_run(tmp_path).spans)
