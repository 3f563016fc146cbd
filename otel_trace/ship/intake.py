"""What the processes of a run have written, as spans to be sent: those that ended, markers, the ends of the dead."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from otel_trace.cluster.process import ProcessKey
from otel_trace.journal.delivery import Delivery
from otel_trace.journal.span_data import SpanData
from otel_trace.ship.encode import EncodedSpan, encode_span
from otel_trace.ship.follow import Follower, Position
from otel_trace.ship.listing import Listing
from otel_trace.ship.markers import make_interrupted, make_marker

OPEN_AFTER_NS = 5_000_000_000
_MAX_SPANS = 2048
_MAX_BYTES = 32 * 2**20
_ZERO_TRACE, _ZERO_SPAN = "0" * 32, "0" * 16


@dataclass(slots=True)
class Item:
    """A span to be sent, and the place in its process's journal that is reached with it."""

    span: EncodedSpan
    key: str
    position: Position | None = None
    marks: str = ""  # the open span that it is a marker of


class Intake:
    """Reads the journals of all processes in a folder, some of each in turn."""

    def __init__(self, folder: Path, delivery: Delivery, is_alive: Callable[[ProcessKey], bool]) -> None:
        self._folder = folder
        self._delivery = delivery
        self._is_alive = is_alive
        self._listing = Listing(folder)
        delivery.keep_only({str(key) for key in self._listing.read()})
        self._ended: set[str] = set(delivery.finished)
        self._followers: dict[str, Follower] = {}
        self._items: list[Item] = []
        self._first = 0

    def has_producers(self) -> bool:
        """Say whether a process lives that may write more."""
        return any(self._is_alive(key) for key in self._find_processes())

    def is_drained(self) -> bool:
        """Say whether all processes have ended and everything of them was read."""
        return not self._find_processes()

    def close(self) -> None:
        """Close the files."""
        for follower in self._followers.values():
            follower.close()
        self._followers.clear()

    def read(self) -> tuple[list[Item], bool]:
        """Give what is new, as far as memory allows, and whether anything was read at all."""
        keys = self._find_processes()
        self._first %= len(keys) or 1
        has_read, num_bytes = False, 0
        for key in keys[self._first :] + keys[: self._first]:
            before = len(self._items)
            has_read |= self._read_process(key)
            self._first += (
                1  # whoever comes next is first the next time: a busy process does not starve others
            )
            num_bytes += sum(len(item.span.data) for item in self._items[before:])
            if len(self._items) >= _MAX_SPANS or num_bytes > _MAX_BYTES:
                break
        else:
            self._show_open()
        items, self._items = self._items, []
        return items, has_read

    def _find_processes(self) -> list[ProcessKey]:
        return [key for key in self._listing.read() if str(key) not in self._ended]

    def _read_process(self, key: ProcessKey) -> bool:
        name = str(key)
        follower = self._followers.get(name)
        if follower is None:
            follower = self._followers[name] = Follower(self._folder, key, self._delivery)
        is_over = not self._is_alive(key)
        for span, position in follower.read(is_over=is_over):
            self._take(span, name, position)
        if is_over and follower.is_idle:
            self._finish(follower)
            return True
        return not follower.is_idle

    def _take(self, span: SpanData, name: str, position: Position) -> None:
        """Put a span among those to be sent; one with a zero id would make Tempo refuse all the others."""
        if span.trace_id == _ZERO_TRACE or span.span_id == _ZERO_SPAN:
            self._delivery.drop("invalid", 1)
        else:
            self._items.append(Item(encode_span(span), name, position))

    def _finish(self, follower: Follower) -> None:
        """End what a dead process left open, and follow it no more."""
        name = str(follower.key)
        for span, position in follower.list_interrupted():
            self._take(make_interrupted(span, follower.last_ns), name, position)
        follower.close()
        del self._followers[name]
        self._ended.add(name)

    def _show_open(self) -> None:
        """Make a marker for each span that has been open for long, once; parents before children."""
        now_ns = time.time_ns()
        shown = {span_id for known in self._delivery.markers.values() for span_id in known}
        for span, name in sorted(self._find_long_open(now_ns), key=lambda found: found[0].start_ns):
            if span.span_id not in shown:
                shown.add(span.span_id)
                encoded = encode_span(make_marker(span, now_ns, shown), is_marker=True)
                self._items.append(Item(encoded, name, marks=span.span_id))

    def _find_long_open(self, now_ns: int) -> list[tuple[SpanData, str]]:
        return [
            (span, name)
            for name, follower in self._followers.items()
            if follower.is_idle
            for span in follower.open_spans
            if now_ns - span.start_ns > OPEN_AFTER_NS and span.span_id != _ZERO_SPAN
        ]

    def note_all_delivered(self) -> bool:
        """Write into the delivery that everything read was acknowledged; say whether that is news."""
        delivery = self._delivery
        before = (dict(delivery.positions), dict(delivery.cleared), dict(delivery.open_in), delivery.finished)
        for name, follower in self._followers.items():
            # One that reads again what had been delivered is not there yet.
            if follower.position >= delivery.positions.get(name, (0, 0)):
                delivery.positions[name] = follower.position
                delivery.cleared[name] = follower.position[0]
                delivery.open_in[name] = follower.count_open_in()
                self._forget_markers(follower)
        for name in self._ended.difference(delivery.finished):
            delivery.markers.pop(name, None)
            delivery.open_in.pop(name, None)
            delivery.cleared[name] = sys.maxsize
        delivery.finished = sorted(self._ended)
        return before != (delivery.positions, delivery.cleared, delivery.open_in, delivery.finished)

    def _forget_markers(self, follower: Follower) -> None:
        """Keep only which of the spans that are still open were shown."""
        known = self._delivery.markers.pop(str(follower.key), None)
        if known:
            is_open = {span.span_id for span in follower.open_spans}
            self._delivery.markers[str(follower.key)] = [span_id for span_id in known if span_id in is_open]
