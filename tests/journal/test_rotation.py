from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from otel_trace.errors import FolderRefused
from otel_trace.journal import rotation
from otel_trace.journal.spans import read_run
from otel_trace.journal.writer import Writer
from tests.journal.factories import (
    KIB,
    MODES,
    bury,
    describe,
    die,
    failing_place,
    is_cut,
    make_place,
    make_writer,
    messages,
    write_spans,
    writing,
)

if TYPE_CHECKING:
    from otel_trace.journal.place import Place

MAPPED = pytest.mark.parametrize("is_mapped", [True, False], ids=MODES)


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


def test_loss_is_kept_in_the_last_segment(tmp_path: Path) -> None:
    """While no segment can be opened the one before stays, for its tally: a kill then hides no loss."""
    places = [make_place(tmp_path)]
    writer = Writer(lambda: places.pop() if places else failing_place(OSError("no"))(), describe)
    write_spans(writer, 3)
    writer._place = None
    writer.segment.write = refuse
    write_spans(writer, 2, first=4)
    die(writer)
    bury(tmp_path)
    assert {"created": 5, "journal": 3, "no_space": 2, "end_no_space": 2} == read_run(tmp_path).ledger


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


def test_what_is_done_once_a_second_cannot_fail_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever hangs onto the tick may fail: it is told, and the span is there."""
    monkeypatch.setenv("OTELTRACE_STRICT", "0")
    calls: list[int] = []

    def fail() -> None:
        calls.append(1)
        raise RuntimeError("bug")

    with writing(tmp_path) as writer:
        writer.on_tick = fail
        assert 1 == write_spans(writer, 1)
    assert [1] == calls
    message = "what is done once a second failed (RuntimeError: bug); the program goes on without it"
    assert [f"otel_trace: {message}"] == messages(caplog)


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
