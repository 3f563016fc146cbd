"""Small journals for tests: places, writers, and processes that are no more."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from otel_trace.cluster.process import ProcessKey
from otel_trace.journal.format import pack_frame
from otel_trace.journal.place import Place
from otel_trace.journal.reader import Damage, scan_frames
from otel_trace.journal.trim import _read_final_tally
from otel_trace.journal.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import pytest

KIB, MIB = 2**10, 2**20
START_NS = 1_800_000_000_000_000_000
"""2027-01-15 08:00:00 UTC."""
TRACE = bytes.fromhex("4bf92f3577b34da6a3ce929d0e0e4736")
DEAD = ProcessKey(999_999_999, 7)
"""A process that has never been."""
MODES = ["mapped", "appended"]


@dataclass(frozen=True, eq=False)
class Shared:
    """A site or facts: what many records refer to."""

    data: Mapping[str, Any] = field(default_factory=lambda: {"name": "load", "params": ["path"]})


def make_place(
    folder: Path, *, is_mapped: bool = True, max_bytes: int = 64 * MIB, segment_bytes: int = 64 * KIB
) -> Place:
    """Return a place with small segments; the folder is made."""
    folder.mkdir(parents=True, exist_ok=True)
    return Place(folder, is_mapped, max_bytes, segment_bytes)


def describe(key: ProcessKey, number: int) -> dict[str, Any]:
    """Return the header of a segment."""
    return {
        "format": 1,
        "run_id": "run-a",
        "pid": key.pid,
        "number": number,
        "resource": {"service.name": "train.py"},
    }


def make_writer(folder: Path, **options: Any) -> Writer:
    """Return a writer into a folder; whoever calls it closes it."""
    return Writer(lambda: make_place(folder, **options), describe)


@contextlib.contextmanager
def writing(folder: Path, **options: Any) -> Iterator[Writer]:
    """Give a writer that is closed at the end."""
    writer = make_writer(folder, **options)
    try:
        yield writer
    finally:
        writer.close()


def write_spans(
    writer: Writer, number: int, *, first: int = 1, is_ended: bool = True, site: Shared | None = None
) -> int:
    """Write spans numbered from `first`, 1 ms apart and long; return how many were taken."""
    site = site or Shared()
    taken = 0
    for span in range(first, first + number):
        start_ns = START_NS + span * 1_000_000
        taken += writer.start(site, TRACE, span, None, start_ns, ["a.csv"])
        if is_ended:
            writer.end(span, start_ns + 1_000_000)
    return taken


def die(writer: Writer) -> None:
    """Leave the files as a process does that is killed: mapped segments keep their whole length."""
    writer.after_fork()


def bury(folder: Path, key: ProcessKey = DEAD) -> list[Path]:
    """Make all segments in a folder those of a process that is no more; return them in order."""
    paths = []
    for path in sorted(folder.glob("*.seg")):
        number = path.stem.rsplit("-", 1)[1]
        paths.append(path.rename(path.with_name(f"{key}-{number}.seg")))
    return paths


def fill_with(folder: Path, number: int, *, key: ProcessKey = DEAD, close: bool = True) -> Path:
    """Write the one segment of a dead process, closed or as the kill left it; return its path."""
    place = folder / "making"
    writer = make_writer(place)
    write_spans(writer, number)
    (writer.close if close else lambda: die(writer))()
    (path,) = bury(place, key)
    target = path.rename(folder / path.name)
    place.rmdir()
    return target


def frames_of(path: Path) -> list[bytes]:
    """Return the intact frames of a segment."""
    return [pack_frame(payload) for _, payload in scan_frames(path.read_bytes(), Damage())]


def is_cut(path: Path) -> bool:
    """Say whether a segment ends with its final tally, as a closed one does."""
    return _read_final_tally(path) is not None


def failing_place(error: Exception) -> Callable[[], Place]:
    """Return what opens no place."""

    def open_place() -> Place:
        raise error

    return open_place


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what was told."""
    return [record.getMessage() for record in caplog.records]
