"""The segment of this process: opened when needed, followed by the next one when full, failed or removed.

There is no lock in the way of a record. The one around opening is re-entrant: a signal handler or a finalizer
that emits while a segment is being opened opens one itself, and so does a child forked at that moment;
whoever comes back to an opening that was overtaken throws away what it has opened.
"""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic_ns, time_ns
from typing import TYPE_CHECKING, Any

from otel_trace._guard import report_failure, tell_once
from otel_trace.cluster.process import ProcessKey, this_process
from otel_trace.errors import JournalError
from otel_trace.journal.bound import make_room
from otel_trace.journal.clean import clean_value
from otel_trace.journal.format import SUFFIX, Kind, encode, pack_frame
from otel_trace.journal.ledger import Ledger
from otel_trace.journal.no_segment import NO_SEGMENT
from otel_trace.journal.place import Place
from otel_trace.journal.segment import AppendedSegment, MappedSegment, Segment, count_so_far, create_file
from otel_trace.journal.trim import sync_file, write_file

if TYPE_CHECKING:
    import itertools

_SECOND = 1_000_000_000
_ANCHOR = time_ns() - monotonic_ns()
_FIRST_BYTES = 2**20  # of many short-lived processes most write little


@dataclass(slots=True)
class _Closed:
    """A segment of this process that is complete."""

    path: Path
    starts: "itertools.count[int]"
    is_synced: bool = False


class Rotation:
    """The segments of this process and, after a fork, of the child."""

    def __init__(
        self, open_place: Callable[[], Place], describe: Callable[[ProcessKey, int], dict[str, Any]]
    ) -> None:
        self._open_place = open_place
        self._describe = describe
        self.on_tick: Callable[[], None] | None = None  # called once a second while records come
        self._reset()

    def _reset(self) -> None:
        self.ledger = Ledger()
        self._lock = threading.RLock()
        self._key = this_process()
        self._place: Place | None = None
        self._number = 0
        self._closed: list[_Closed] = []
        self._retry_at = 0
        self._next_tick = 0
        self._lost_until_flush = 0
        self.segment: Segment = NO_SEGMENT
        self._full: Segment = NO_SEGMENT  # while nothing new can be opened: the last one, for its tally

    # Opening.

    def _usable_segment(self) -> Segment | None:
        """Give an open segment; None while none can be opened."""
        while self.segment is NO_SEGMENT and monotonic_ns() >= self._retry_at:
            self._replace(NO_SEGMENT)
        return None if self.segment is NO_SEGMENT else self.segment

    def _replace(self, old: Segment, error: OSError | None = None) -> None:
        """Take the next segment instead of one that is full, failed or removed."""
        if error is not None:
            self._tell(error)
        with self._lock:
            if self.segment is not old:
                return
            key = self._key
            following = self._open_next()
            if self.segment is not old or self._key is not key:
                self._discard(following)
                return
            full, self._full = self._full, NO_SEGMENT
            self.segment = following or NO_SEGMENT
            if following is None:
                self._full = full if old is NO_SEGMENT else old
                return
            for segment in (full, old):
                self._close_segment(segment)

    def _open_next(self) -> Segment | None:
        try:
            place = self._find_place()
            self._make_room(place)
            return self._begin(place)
        except RecursionError:  # the program is at the end of its stack; the disk is not at fault
            raise
        except Exception as error:  # noqa: BLE001 (nothing of ours may raise into the user's program)
            self._retry_at = monotonic_ns() + _SECOND
            self._tell(error)
            return None

    def _find_place(self) -> Place:
        if self._place is None or not self._place.folder.is_dir():
            self._place = self._open_place()
        return self._place

    def _begin(self, place: Place) -> Segment:
        """Create a segment that begins with its header."""
        segment = self._create(place)
        try:
            header = clean_value(self._describe(self._key, self._number))
            segment.write(pack_frame(encode([int(Kind.HEADER), header])))
            if self.ledger.lost:
                segment.write_tally(self.ledger.pack_tally(None))
        except BaseException:
            self._discard(segment)
            raise
        return segment

    def _create(self, place: Place) -> Segment:
        kind = MappedSegment if place.is_mapped else AppendedSegment
        while True:
            self._number += 1
            path = place.folder / f"{self._key}-{self._number:06d}{SUFFIX}"
            try:
                return kind(
                    path,
                    place.file_mode,
                    min(place.segment_bytes, _FIRST_BYTES << 3 * min(self._number - 1, 8)),
                )
            except (FileExistsError, BlockingIOError):
                continue

    def _discard(self, segment: Segment | None) -> None:
        """Throw away a segment that nobody has written to, unless it is that of a forked child's parent."""
        if segment is not None:
            with contextlib.suppress(OSError, ValueError):
                segment.abandon()
            if segment.path.name.startswith(f"{self._key}-"):
                segment.path.unlink(missing_ok=True)

    def _make_room(self, place: Place) -> None:
        current = "" if self.segment is NO_SEGMENT else self.segment.path.name
        own = {closed.path.name: count_so_far(closed.starts) for closed in self._closed}
        self.ledger.lost += make_room(place, current, own)

    # Closing.

    def _close_segment(self, segment: Segment) -> None:
        if segment is NO_SEGMENT:
            return
        try:
            if segment.is_there():
                # What is gone from a folder that is there was evicted, and counted by whoever did it.
                self._closed = [closed for closed in self._closed if closed.path.exists()]
                self._closed.append(_Closed(segment.path, segment.starts))
                segment.close(self.ledger.pack_tally(count_so_far(segment.starts)))
            else:
                self._rescue(segment)
        except (OSError, ValueError) as error:
            self._tell(error)

    def _rescue(self, gone: Segment) -> None:
        """Write a segment whose folder was removed into a new folder, and count the ones that went before it."""
        tell_once(
            "journal/removed", f"the folder {gone.path.parent} was removed while in use; making it again"
        )
        removed = [closed for closed in self._closed if not closed.path.exists()]
        self._closed = [closed for closed in self._closed if closed not in removed]
        self.ledger.count("removed", sum(count_so_far(closed.starts) for closed in removed))
        frames = gone.take_back()
        tally = self.ledger.pack_tally(count_so_far(gone.starts))
        try:
            place = self._find_place()
            path = place.folder / gone.path.name
            write_file(create_file(path, place.file_mode), frames + tally)
            self._closed.append(_Closed(path, gone.starts))
        except (OSError, JournalError) as error:
            self.ledger.count("removed", count_so_far(gone.starts))
            self._tell(error)
        self._write_tally()

    def _write_tally(self) -> None:
        """Keep the losses where a reader finds them: in the segment that is open or was so last."""
        segment = self._full if self.segment is NO_SEGMENT else self.segment
        with contextlib.suppress(OSError, ValueError):
            segment.write_tally(self.ledger.pack_tally(None))

    def _tick(self) -> None:
        """Once a second: let the system begin to write to disk, and see that the file is still there."""
        self._next_tick = monotonic_ns() + _ANCHOR + _SECOND
        segment = self.segment
        try:
            if segment is not NO_SEGMENT and not segment.is_there():
                self._replace(segment)
            elif segment is not NO_SEGMENT:
                segment.start_writeback()
        except (OSError, ValueError) as error:
            if self.segment is segment:  # else another thread has just closed it
                self._tell(error)
        if self.on_tick is not None:
            try:
                self.on_tick()
            except Exception as error:  # noqa: BLE001 (nothing of ours may raise into the user's program)
                report_failure("what is done once a second", error)

    def _tell(self, error: Exception) -> None:
        tell_once(
            "journal/write", f"cannot write the journal ({error}); spans are lost and counted until it can"
        )

    # The ends.

    @property
    def folder(self) -> Path | None:
        """Give the folder of the segments, once there is one."""
        return None if self._place is None else self._place.folder

    def find_position(self) -> tuple[int, int] | None:
        """Give the number of the open segment and how much it holds; None when none is open."""
        while self.segment is not NO_SEGMENT:
            segment = self.segment
            try:
                return int(segment.path.stem.rsplit("-", 1)[1]), segment.count_bytes()
            except (OSError, ValueError):
                if segment is self.segment:
                    return None
        return None

    def flush(self) -> bool:
        """Wait until everything so far is on disk; False when it cannot be or something was lost since the last time."""
        lost = self.ledger.count_losses()
        is_whole = lost == self._lost_until_flush
        self._lost_until_flush = lost
        try:
            self._flush_current()
            for closed in self._closed:
                if not closed.is_synced:
                    sync_file(closed.path)
                    closed.is_synced = True
        except (OSError, ValueError) as error:
            self._tell(error)
            return False
        return is_whole

    def _flush_current(self) -> None:
        """Wait for the current segment; once more when another thread closes it meanwhile."""
        while True:
            segments = (self._full, self.segment)
            try:
                for segment in segments:
                    segment.flush()
            except (OSError, ValueError):
                if segments == (self._full, self.segment):
                    raise
            else:
                return

    def close(self) -> None:
        """Cut the file to its length and let it go; a later record would open another one."""
        with self._lock:
            segments = (self._full, self.segment)
            self._full = self.segment = NO_SEGMENT
            for segment in segments:
                self._close_segment(segment)

    def after_fork(self) -> None:
        """Begin anew in a forked child: its own segment on its first record."""
        segments = (self._full, self.segment)
        self._reset()
        for segment in segments:
            with contextlib.suppress(OSError, ValueError):
                segment.abandon()
