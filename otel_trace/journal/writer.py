"""Records go into the current segment; when it is full, damaged or gone, into the next one.

The hot methods try, and everything rare is in `_put`: definitions that the segment lacks, values that cannot
be encoded, a full segment, a failing disk, a forked child. While no segment can be opened, spans are counted
as lost and the disk is tried again once a second. There is no lock in the hot path; the one around opening is
re-entrant, so that a signal handler or a finalizer that emits meanwhile only opens one more segment.
"""

import os
import threading
from collections.abc import Callable, Mapping
from time import monotonic_ns
from typing import Any, Protocol
from zlib import crc32

from otel_trace._guard import tell_once
from otel_trace.cluster.process import ProcessKey, this_process
from otel_trace.errors import JournalError
from otel_trace.journal.bound import make_room
from otel_trace.journal.clean import clean_attributes, clean_text
from otel_trace.journal.format import FRAME, MAGIC, MAX_PAYLOAD, SUFFIX, Kind, encode, pack_frame
from otel_trace.journal.ledger import LOST_END, Ledger
from otel_trace.journal.place import Place
from otel_trace.journal.segment import AppendedSegment, MappedSegment, Segment, count_so_far

PLAIN = frozenset({int, float, str, bool, type(None), dict})
_MAX_DEFINITIONS = 20_000
_SECOND = 1_000_000_000
_FIRST_BYTES = 2**20  # of many short-lived processes most write little
_pack = FRAME.pack
_START, _END = int(Kind.START), int(Kind.END)


class Definable(Protocol):
    """What many records share: written once a segment, referred to by number."""

    data: Mapping[str, Any]


class Writer:
    """The journal of this process and, after a fork, of the child."""

    def __init__(self, open_place: Callable[[], Place], describe: Callable[[ProcessKey, int], dict[str, Any]]) -> None:
        self._open_place = open_place
        self._describe = describe
        self._place: Place | None = None
        self._reset()

    def _reset(self) -> None:
        self.ledger = Ledger()
        self._lock = threading.RLock()
        self._key = this_process()
        self._number = 0
        self._closed_segments: list[tuple[Any, int]] = []
        self._retry_at = 0
        self._next_tick = 0
        self.segment: Segment = _NONE

    # The hot path.

    def start(
        self,
        site: Definable,
        trace: bytes,
        span: int,
        parent: int | None,
        time: int,
        values: list[Any],
        context: Definable | None = None,
        more: dict[str, Any] | None = None,
    ) -> bool:
        """Append the start of a span; False when it was lost (and counted)."""
        segment = self.segment
        ids = segment.ids
        try:
            refs = [value if value.__class__ in PLAIN else ids[value] for value in values]
            if more is not None:
                shared = None if context is None else ids[context]
                payload = encode((_START, ids[site], trace, span, parent, time, refs, shared, more))
            elif context is not None:
                payload = encode((_START, ids[site], trace, span, parent, time, refs, ids[context]))
            else:
                payload = encode((_START, ids[site], trace, span, parent, time, refs))
            segment.write(_pack(MAGIC, len(payload), crc32(payload)) + payload)
        except Exception:
            return self._put([_START, site, trace, span, parent, time, values, context, more], "")
        next(segment.starts)
        if time >= self._next_tick:
            self._tick(time)
        return True

    def end(self, span: int, time: int, result: Any = None, more: dict[str, Any] | None = None) -> bool:
        """Append the end of a span; False when it was lost (and counted)."""
        segment = self.segment
        try:
            if result.__class__ not in PLAIN:
                payload = encode((_END, span, time, segment.ids[result], more))
            elif more is None and result is None:
                payload = encode((_END, span, time))
            else:
                payload = encode((_END, span, time, result, more))
            segment.write(_pack(MAGIC, len(payload), crc32(payload)) + payload)
        except Exception:
            return self._put([_END, span, time, result, more], LOST_END)
        return True

    # What is rare.

    def event(self, span: int, time: int, name: str, attributes: Mapping[str, Any] | None) -> bool:
        """Append an event of a span."""
        return self._put([int(Kind.EVENT), span, time, clean_text(name), clean_attributes(attributes)[0]], "event_")

    def link(self, span: int, trace: bytes, linked: int, attributes: Mapping[str, Any] | None) -> bool:
        """Append a link of a span."""
        return self._put([int(Kind.LINK), span, trace, linked, clean_attributes(attributes)[0]], "link_")

    def _put(self, record: list[Any], lost_as: str) -> bool:
        """Append a record with whatever it takes."""
        for _ in range(8):
            segment = self._usable_segment()
            if segment is None:
                return self._lose(lost_as + "no_space")
            try:
                payload = self._encode(segment, record)
                if len(payload) > MAX_PAYLOAD:
                    return self._lose(lost_as + "invalid")
                self._write(segment, pack_frame(payload))
            except _SegmentReplaced:
                continue
            except (TypeError, ValueError, OverflowError, RecursionError):
                return self._lose(lost_as + "invalid")
            if record[0] == _START:
                next(segment.starts)
            return True
        return self._lose(lost_as + "no_space")

    def _write(self, segment: Segment, frame: bytes) -> None:
        """Write a frame, or take the next segment and raise."""
        try:
            segment.write(frame)
        except (ValueError, OSError) as error:
            self._replace(segment, error if isinstance(error, OSError) else None)
            raise _SegmentReplaced from None

    def _encode(self, segment: Segment, record: list[Any]) -> bytes:
        """Encode a record after defining in the segment what it refers to."""
        fields: list[Any] = []
        for field in record:
            if field.__class__ is list:
                fields.append([self._refer(segment, value) for value in field])
            else:
                fields.append(field if field.__class__ in PLAIN or field.__class__ is bytes else self._refer(segment, field))
        try:
            return encode(fields)
        except (TypeError, ValueError, OverflowError):
            return encode([_clean_field(field) for field in fields])

    def _refer(self, segment: Segment, value: Any) -> Any:
        """Give what stands for a value in a record of that segment."""
        if value.__class__ in PLAIN:
            return value
        known = segment.ids.get(value)
        if known is None:
            if len(segment.ids) >= _MAX_DEFINITIONS and "name" not in value.data:
                return dict(value.data)
            known = [len(segment.ids) + 1]
            payload = encode([int(Kind.DEFINITION), known[0], _clean_field(dict(value.data))])
            self._write(segment, pack_frame(payload))
            segment.ids[value] = known
        return known

    def _lose(self, reason: str) -> bool:
        self.ledger.count(reason)
        try:
            self.segment.write_tally(self.ledger.pack_tally(None))
        except (ValueError, OSError):
            pass
        return False

    # Segments.

    def _usable_segment(self) -> Segment | None:
        segment = self.segment
        if segment is not _NONE:
            return segment
        if monotonic_ns() < self._retry_at:
            return None
        with self._lock:
            if self.segment is _NONE:
                self.segment = self._open_next() or _NONE
        return self.segment if self.segment is not _NONE else None

    def _replace(self, full: Segment, error: OSError | None) -> None:
        """Take the next segment instead of one that is full or failed."""
        if error is not None:
            self._tell(error)
        with self._lock:
            if self.segment is not full:
                return
            self.segment = self._open_next() or _NONE
            self._close_segment(full)

    def _open_next(self, content: bytes = b"") -> Segment | None:
        """Open a segment that begins with its header, or with the frames of another one."""
        try:
            if self._place is None or not self._place.folder.is_dir():
                self._place = self._open_place()
            self._make_room(self._place)
            segment = self._create(self._place)
            segment.write(content or self._pack_header())
            if self.ledger.lost:
                segment.write_tally(self.ledger.pack_tally(None))
        except (OSError, ValueError, JournalError) as error:
            self._tell(error)
            self._retry_at = monotonic_ns() + _SECOND
            return None
        return segment

    def _pack_header(self) -> bytes:
        header = self._describe(self._key, self._number)
        return pack_frame(encode([int(Kind.HEADER), _clean_field(header)]))

    def _create(self, place: Place) -> Segment:
        kind = MappedSegment if place.is_mapped else AppendedSegment
        while True:
            self._number += 1
            path = place.folder / f"{self._key}-{self._number:06d}{SUFFIX}"
            try:
                return kind(path, place.file_mode, min(place.segment_bytes, _FIRST_BYTES << 3 * (self._number - 1)))
            except FileExistsError:
                continue

    def _make_room(self, place: Place) -> None:
        own = {path.name: starts for path, starts in self._closed_segments}
        evicted = make_room(place, self.segment.path.name if self.segment is not _NONE else "", own)
        if evicted:
            self.ledger.count("evicted", evicted)

    def _close_segment(self, segment: Segment) -> None:
        starts = count_so_far(segment.starts)
        self._closed_segments.append((segment.path, starts))
        try:
            segment.close(self.ledger.pack_tally(starts))
        except (OSError, ValueError) as error:
            self._tell(error)

    def _tick(self, time: int) -> None:
        """Once a second: let the system begin to write to disk, and see that the file is still there."""
        self._next_tick = time + _SECOND
        segment = self.segment
        try:
            if not segment.start_writeback():
                self._move_to_new_folder(segment)
        except (OSError, ValueError) as error:
            self._tell(error)

    def _move_to_new_folder(self, gone: Segment) -> None:
        """Copy a segment whose folder was removed into a new folder, and count the ones before it."""
        tell_once("journal/removed", f"the folder {gone.path.parent} was removed while in use; making it again")
        with self._lock:
            if self.segment is not gone:
                return
            self.ledger.count("removed", sum(starts for path, starts in self._closed_segments if not path.exists()))
            self._closed_segments = [item for item in self._closed_segments if item[0].exists()]
            content = gone.read_back()
            segment = self._open_next(content)
            if segment is None:
                self.ledger.count("removed", count_so_far(gone.starts))
            else:
                segment.ids, segment.starts = gone.ids, gone.starts
                self.segment = segment
                segment.write(gone.read_back()[len(content) :])
            self.segment = segment or _NONE
            gone.abandon()

    def _tell(self, error: Exception) -> None:
        tell_once("journal/write", f"cannot write the journal ({error}); spans are lost and counted until it can")

    # The ends.

    def flush(self) -> bool:
        """Wait until everything written so far is on disk; True when it is."""
        if self.segment is _NONE:
            return not self.ledger.lost
        try:
            self.segment.flush()
        except (OSError, ValueError) as error:
            self._tell(error)
            return False
        return True

    def close(self) -> None:
        """Cut the file to its length and let it go; a later record would open another one."""
        with self._lock:
            segment, self.segment = self.segment, _NONE
            if segment is not _NONE:
                self._close_segment(segment)

    def after_fork(self) -> None:
        """Begin anew in a forked child: its own segment on its first record."""
        segment = self.segment
        self._reset()
        try:
            segment.abandon()
        except (OSError, ValueError):
            pass


class _SegmentReplaced(Exception):
    """The segment was full or failed; the record is for the next one."""


class _NoSegment:
    """Stands where no segment is open: nothing is defined, so every record takes the slow way."""

    def __init__(self) -> None:
        self.ids: dict[Any, list[int]] = {}

    def write(self, frame: bytes) -> int:
        raise ValueError("no segment is open")

    def write_tally(self, frame: bytes) -> None:
        """Nowhere to keep it yet."""

    def start_writeback(self) -> bool:
        return True

    def abandon(self) -> None:
        """Nothing to let go of."""


_NONE: Any = _NoSegment()


def _clean_field(field: Any) -> Any:
    if isinstance(field, dict):
        return clean_attributes(field)[0]
    if isinstance(field, str):
        return clean_text(field)
    if isinstance(field, list):
        return [_clean_field(item) for item in field]
    return field
