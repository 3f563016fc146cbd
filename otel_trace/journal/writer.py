"""Records go into the current segment; what is rare takes the slow way, which tries until it is settled.

The hot methods try, and everything rare is in `_put`: definitions that the segment lacks, values that cannot
be encoded, a full segment, a failing disk, a forked child. While no segment can be opened, spans are counted
as lost and the disk is tried again once a second. There is no lock in the hot path.
"""

from collections.abc import Mapping
from typing import Any, Protocol
from zlib import crc32

from otel_trace.journal.clean import clean_attributes, clean_text, clean_value
from otel_trace.journal.format import FRAME, MAGIC, MAX_PAYLOAD, Kind, encode, pack_frame
from otel_trace.journal.ledger import LOST_END, LOST_EVENT, LOST_LINK
from otel_trace.journal.rotation import Rotation
from otel_trace.journal.segment import Segment

PLAIN = frozenset({int, float, str, bool, type(None), dict})
_MAX_DEFINITIONS = 20_000
_pack = FRAME.pack
_START, _END = int(Kind.START), int(Kind.END)
# So many fields of a record are ids and times: they are written as they are, or the record is invalid.
_NUM_IDS = {_START: 6, _END: 3, int(Kind.EVENT): 3, int(Kind.LINK): 4}


class Definable(Protocol):
    """What many records share: written once a segment, referred to by number."""

    @property
    def data(self) -> Mapping[str, Any]:
        """Give what is written."""


class Writer(Rotation):
    """The journal of this process and, after a fork, of the child."""

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
            refs = []
            for value in values:  # a comprehension is a call of its own before Python 3.12
                refs.append(value if value.__class__ in PLAIN else ids[value])  # noqa: PERF401
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
            self._tick()
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
        record = [int(Kind.EVENT), span, time, clean_text(name), clean_attributes(attributes)[0]]
        return self._put(record, LOST_EVENT)

    def link(self, span: int, trace: bytes, linked: int, attributes: Mapping[str, Any] | None) -> bool:
        """Append a link of a span."""
        return self._put([int(Kind.LINK), span, trace, linked, clean_attributes(attributes)[0]], LOST_LINK)

    def _put(self, record: list[Any], lost_as: str) -> bool:
        """Append a record with whatever it takes."""
        for _ in range(8):
            try:
                segment = self._usable_segment()
                if segment is None:
                    break
                payload = self._encode(segment, record)
                if len(payload) > MAX_PAYLOAD:
                    return self._lose(lost_as + "invalid")
                self._write(segment, pack_frame(payload))
            except _SegmentReplaced:
                continue
            except RecursionError:
                break
            except Exception:
                return self._lose(lost_as + "invalid")
            if record[0] == _START:
                next(segment.starts)
                if record[5] >= self._next_tick:
                    self._tick()
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
                is_plain = field.__class__ in PLAIN or field.__class__ is bytes
                fields.append(field if is_plain else self._refer(segment, field))
        try:
            return encode(fields)
        except (TypeError, ValueError, OverflowError, RecursionError):
            num_ids = _NUM_IDS[record[0]]
            return encode([*fields[:num_ids], *map(clean_value, fields[num_ids:])])

    def _refer(self, segment: Segment, value: Any) -> Any:
        """Give what stands for a value in a record of that segment."""
        if value.__class__ in PLAIN:
            return value
        known = segment.ids.get(value)
        if known is None:
            if len(segment.ids) >= _MAX_DEFINITIONS and "name" not in value.data:
                return dict(value.data)
            known = [next(segment.numbers)]
            payload = encode([int(Kind.DEFINITION), known[0], clean_value(dict(value.data))])
            self._write(segment, pack_frame(payload))
            segment.ids[value] = known
        return known

    def _lose(self, reason: str) -> bool:
        self.ledger.count(reason)
        self._write_tally()
        return False


class _SegmentReplaced(Exception):
    """The segment was full or failed; the record is for the next one."""
