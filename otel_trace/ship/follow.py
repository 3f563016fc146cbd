"""The segments of one process, followed while they grow: spans come out as they end.

Only spans that are open are kept in memory. After a restart, segments that are done with are left out; of the
others, what lies before the delivered position is read again for the sake of its starts and definitions, and
its ends are passed over.
"""

import contextlib
import functools
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

from otel_trace.cluster.process import ProcessKey
from otel_trace.journal.bound import parse_name
from otel_trace.journal.clean import MAX_ATTRIBUTES
from otel_trace.journal.delivery import Delivery
from otel_trace.journal.format import FORMATS, FRAME, MAGIC, SUFFIX, Kind, decode_payload, unpack_payload
from otel_trace.journal.join import Definitions, Joiner, Shared, Site, bound_span
from otel_trace.journal.reader import Damage, scan_frames
from otel_trace.journal.span_data import ProcessData, SpanData
from otel_trace.journal.values import add_value
from otel_trace.ship.parted import Parted

_CHUNK = 2**20
_START, _END, _DEFINITION = int(Kind.START), int(Kind.END), int(Kind.DEFINITION)
_SYNC_EVERY = 1.0
_PATIENCE = 2.0  # for a thread that still writes into a segment that has a successor
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


Position = tuple[int, int]


class _Stream(Joiner):
    """Joins records as they come."""

    def __init__(self, process: ProcessData, damage: Damage) -> None:
        super().__init__(process, damage)
        self.ended: list[tuple[SpanData, Position]] = []
        self.is_closed = False

    @property
    def open_spans(self) -> dict[int, SpanData]:
        """Give the spans that have not ended, by id."""
        return self._spans

    @property
    def last_ns(self) -> int:
        """Give the time of the last record."""
        return self._last_ns

    def take(self, record: list[Any], definitions: Definitions, position: Position) -> None:
        """Apply one record that ends at a position."""
        kind = record[0]
        if kind == _START:
            self._try(self._start, record, definitions)
        elif kind == _END:
            self._try(self._end, record, definitions)
            span = self._spans.pop(record[1], None) if len(record) > 1 and type(record[1]) is int else None
            if span is not None:
                self.ended.append((_settle(span), position))
        elif kind == Kind.EVENT:
            self._try(self._event, record, definitions)
        elif kind == Kind.LINK:
            self._try(self._link, record, definitions)
        elif kind == Kind.TALLY:
            self._take_tally(record, 0)
            self.is_closed = len(record) > 2 and type(record[2]) is int

    def _gather(
        self, site: Site, context: Any, values: list[Any], definitions: Definitions
    ) -> dict[str, Any]:
        attributes = Parted([site.attributes])
        if context.__class__ is list:
            attributes.shared.append(definitions.named("", context))
        elif context is not None:
            attributes.update(context)
        for name, value in zip(site.params, values, strict=False):
            if value.__class__ is list:
                attributes.shared.append(definitions.named(name, value))
            else:
                add_value(attributes, name, value)
        return attributes

    def _add_shared(self, span: SpanData, shared: Shared) -> None:
        if isinstance(span.attributes, Parted):
            span.attributes.shared.append(shared)
        else:
            span.attributes.update(shared)


def _settle(span: SpanData) -> SpanData:
    """Put the parts together where they cannot be sent as they are."""
    attributes = span.attributes
    if isinstance(attributes, Parted) and (attributes.has_clash() or attributes.count() > MAX_ATTRIBUTES):
        span.attributes = attributes.merge()
    bound_span(span)
    return span


class Follower:
    """Follows one process from its first segment on."""

    def __init__(self, folder: Path, key: ProcessKey, delivery: Delivery) -> None:
        self.key = key
        self.is_idle = False  # nothing was there to be read the last time
        self.damage = Damage()
        self.process = ProcessData(
            key=str(key), pid=key.pid, is_alive=True, host=folder.name, run_id=folder.parent.name, resource={}
        )
        self._folder = folder
        self._stream = _Stream(self.process, self.damage)
        self._delivered = delivery.positions.get(str(key), (0, 0))
        self._is_done_with = functools.partial(delivery.is_done_with, str(key))
        self._begun_in: dict[int, int] = {}  # of the spans that outlast a segment: the one they began in
        self._fd = -1
        self._number = 0
        self._offset = 0
        self._read_at = time.monotonic()
        self._synced_at = 0.0
        self._definitions = Definitions([], self.damage)

    @property
    def position(self) -> Position:
        """Give the segment and the place in it up to which everything was read."""
        return self._number, self._offset

    @property
    def open_spans(self) -> list[SpanData]:
        """Give the spans that have not ended."""
        for span in self._stream.open_spans.values():
            if isinstance(span.attributes, Parted):
                span.attributes = span.attributes.merge()
        return list(self._stream.open_spans.values())

    @property
    def last_ns(self) -> int:
        """Give the time of the last record."""
        return self._stream.last_ns

    def read(self, *, is_over: bool = False) -> list[tuple[SpanData, Position]]:
        """Give what has ended since, at most a chunk's, each with its place; `is_over` when nobody writes any more."""
        before = self.position
        if self._fd >= 0 or self._open_next():
            self._advance(is_over=is_over)
        self.is_idle = self.position == before
        ended, self._stream.ended = self._stream.ended, []
        return [item for item in ended if item[1] > self._delivered]

    def _sync(self) -> None:
        """Have what was written on disk, once a second: against the loss of the machine, and at nobody's cost but ours."""
        if time.monotonic() > self._synced_at + _SYNC_EVERY:
            self._synced_at = time.monotonic()
            with contextlib.suppress(OSError):
                os.fsync(self._fd)

    def _advance(self, *, is_over: bool) -> None:
        if self._read_chunk():
            self._read_at = time.monotonic()
            self._sync()
        elif self._stream.is_closed or is_over or time.monotonic() > self._read_at + _PATIENCE:
            self._read_at = time.monotonic()
            if is_over or self._find_next() is not None:
                self._pass_over_the_rest()
            if self._open_next():
                self._read_chunk()

    def list_interrupted(self) -> list[tuple[SpanData, Position]]:
        """Give what a dead process left open and is not delivered, each with a place behind its last record."""
        number, offset = self.position
        left = ((span, (number, offset + 1 + index)) for index, span in enumerate(self.open_spans))
        return [item for item in left if item[1] > self._delivered]

    def count_open_in(self) -> dict[int, int]:
        """Give how many spans that are still open began in which segment."""
        is_open = self._stream.open_spans
        self._begun_in = {span: segment for span, segment in self._begun_in.items() if span in is_open}
        return dict(Counter(self._begun_in.get(span, self._number) for span in is_open))

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _find_next(self) -> int | None:
        """Give the number of the segment after the current one."""
        parsed = (parse_name(path.name) for path in self._folder.glob(f"{self.key}-*{SUFFIX}"))
        numbers = [found[1] for found in parsed if found and found[0] == self.key and found[1] > self._number]
        return min((number for number in numbers if not self._is_done_with(number)), default=None)

    def _open_next(self) -> bool:
        number = self._find_next()
        if number is None:
            return False
        try:
            fd = os.open(self._folder / f"{self.key}-{number:06d}{SUFFIX}", os.O_RDONLY | _NOFOLLOW)
        except OSError:
            return False
        self.close()
        for span in self._stream.open_spans:
            self._begun_in.setdefault(span, self._number)
        self._fd, self._number, self._offset = fd, number, 0
        self._stream.is_closed = False
        self._definitions = Definitions([], self.damage)
        return True

    def _read_chunk(self) -> int:
        """Take the complete frames from here on; give how many bytes they were."""
        if os.pread(self._fd, 2, self._offset) != MAGIC:
            return 0  # as nearly always: not worth a chunk of zeros
        data = os.pread(self._fd, _CHUNK, self._offset)
        offset = 0
        while (payload := unpack_payload(data, offset)) is not None:
            offset += FRAME.size + len(payload)
            self._take(payload, self._offset + offset)
        self._offset += offset
        return offset

    def _pass_over_the_rest(self) -> None:
        """Read what is intact behind a damaged place, in a segment that is not written any more."""
        data = os.pread(self._fd, 64 * 2**20, self._offset)
        if not data.strip(b"\0"):
            return
        begin = self._offset
        for offset, payload in scan_frames(data, self.damage):
            self._take(payload, begin + offset + FRAME.size + len(payload))
        self._offset = begin + len(data)

    def _take(self, payload: bytes, end: int) -> None:
        record = decode_payload(payload)
        if record is None:
            self.damage.add(1, len(payload))
        elif record[0] > _DEFINITION:
            self._stream.take(record, self._definitions, (self._number, end))
        elif record[0] == _DEFINITION:
            self._definitions.add(record)
        elif record[0] == Kind.HEADER:
            self._take_header(record)

    def _take_header(self, record: list[Any]) -> None:
        header = record[1] if len(record) > 1 and isinstance(record[1], dict) else {}
        if header.get("format", FORMATS[0]) not in FORMATS:
            self.damage.segments_refused.append(f"{self.key}: format {header['format']!r:.40}")
        if not self.process.resource:
            self.process.resource = dict(header.get("resource") or {})
