"""One run on one node, shipped: follow every process, send what has ended, show what has not, end by our own rule.

Everything is kept while the endpoint does not answer: what was read waits, and what was not read stands in
the journal. The shipper ends when its last producer has ended and all is sent, or 5 s after that producer.
"""

import gc
import random
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from otel_trace.cluster.process import ProcessKey, is_alive
from otel_trace.journal.delivery import Delivery, read_delivery, write_delivery
from otel_trace.journal.span_data import SpanData
from otel_trace.ship.answer import Answer, Outcome
from otel_trace.ship.encode import EncodedSpan, encode_span
from otel_trace.ship.follow import Follower, Position
from otel_trace.ship.listing import Listing
from otel_trace.ship.markers import make_interrupted, make_marker
from otel_trace.ship.outbox import MAX_SPANS, Outbox, Sender, take_request
from otel_trace.ship.sizes import TraceSizes

OPEN_AFTER_NS = 5_000_000_000
POLL = 0.1
_GRACE = 1.0
_LINGER = 5.0
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
_MAX_PENDING = 2048
_MAX_PENDING_BYTES = 32 * 2**20
_MAX_MEMORY = 300 * 2**20
_ZERO_TRACE, _ZERO_SPAN = "0" * 32, "0" * 16


@dataclass(slots=True)
class _Item:
    """A span to be sent, and the place in its process's journal that is reached with it."""

    span: EncodedSpan
    key: str
    position: Position | None = None
    marks: str = ""  # the open span that it is a marker of


class Shipper:
    """Ships the journals in the folder of a run on this host."""

    def __init__(
        self,
        folder: Path,
        sender: Sender,
        tell: Callable[[str], None],
        *,
        is_alive: Callable[[ProcessKey], bool] = is_alive,
    ) -> None:
        self.delivery = read_delivery(folder) or Delivery()
        self.delivery.endpoint = sender.endpoint
        self._folder = folder
        self._tell = tell
        self._is_alive = is_alive
        self._outbox = Outbox(sender, self.delivery, tell)
        self._sizes = TraceSizes()
        self._followers: dict[str, Follower] = {}
        self._listing = Listing(folder)
        self.delivery.keep_only({str(key) for key in self._listing.read()})
        self._ended: set[str] = set(self.delivery.finished)
        self._pending: list[_Item] = []
        self._wait = 0.0
        self._retry_at = 0.0
        self._is_refused = False
        self._is_told_to_wait = False
        self._alone_since: float | None = None

    def run(self, *, is_following: bool = False) -> None:
        """Ship until there is nothing left to do.

        Python's collector would look through thousands of waiting spans again and again, for half of all the
        time; there are no cycles among them, and it runs when there is nothing to send.
        """
        gc.disable()
        try:
            self._run(is_following=is_following)
        finally:
            gc.enable()

    def _run(self, *, is_following: bool) -> None:
        while is_following or not self.is_over():
            has_moved = self.turn()
            if self.is_too_large():
                break
            if not has_moved:
                gc.collect(0)
                time.sleep(POLL)
        self.close()

    def turn(self) -> bool:
        """Read some, send some; say whether anything moved."""
        has_read = not self._pending and self._read()
        has_sent = False
        while self._pending and time.monotonic() >= self._retry_at and self._send_request():
            has_sent = True
        if not self._pending and self._advance():
            write_delivery(self._folder, self.delivery)
        return has_sent or has_read

    def is_over(self) -> bool:
        """Say whether the last producer has ended and all is sent, or 5 s ago."""
        if any(self._is_alive(key) for key in self._find_processes()):
            self._alone_since = None
            return False
        if self._alone_since is None:
            self._alone_since = time.monotonic()
            self._hasten()
        alone = time.monotonic() - self._alone_since
        return alone > _LINGER or (alone > _GRACE and self.is_done)

    @property
    def is_done(self) -> bool:
        """Say whether everything of all processes has been sent, and none of them lives."""
        return not self._pending and not self._find_processes()

    @property
    def is_waiting(self) -> bool:
        """Say whether the endpoint has to be asked again later."""
        return bool(self._pending) and time.monotonic() < self._retry_at

    @property
    def is_refused(self) -> bool:
        """Say whether the endpoint, or the exporter's settings, have to be mended by somebody."""
        return self._is_refused

    def is_too_large(self) -> bool:
        """Say whether this process has grown so that another one should go on."""
        if _read_memory() <= _MAX_MEMORY:
            return False
        self._tell(f"the shipper takes more than {_MAX_MEMORY >> 20} MiB and makes way for another one")
        return True

    def close(self) -> None:
        """Write down what was reached, and close the files."""
        write_delivery(self._folder, self.delivery)
        for follower in self._followers.values():
            follower.close()
        self._followers.clear()

    # Reading.

    def _find_processes(self) -> list[ProcessKey]:
        return [key for key in self._listing.read() if str(key) not in self._ended]

    def _read(self) -> bool:
        """Take what the processes have written since, as far as memory allows; say whether there was any."""
        has_read, num_bytes = False, 0
        for key in self._find_processes():
            before = len(self._pending)
            has_read |= self._read_process(key)
            num_bytes += sum(len(item.span.data) for item in self._pending[before:])
            if len(self._pending) >= _MAX_PENDING or num_bytes > _MAX_PENDING_BYTES:
                return True
        self._show_open()
        return has_read

    def _read_process(self, key: ProcessKey) -> bool:
        name = str(key)
        follower = self._followers.get(name)
        if follower is None:
            follower = self._followers[name] = Follower(self._folder, key, self.delivery)
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
            self.delivery.drop("invalid", 1)
        else:
            self._pending.append(_Item(encode_span(span), name, position))

    def _finish(self, follower: Follower) -> None:
        """End what a dead process left open, and follow it no more."""
        name = str(follower.key)
        for span, position in follower.list_interrupted():
            self._take(make_interrupted(span, follower.last_ns), name, position)
        follower.close()
        del self._followers[name]
        self._ended.add(name)

    def _show_open(self) -> None:
        """Send a marker for each span that has been open for long, once; parents before children."""
        now_ns = time.time_ns()
        marked = self.delivery.markers
        shown = {span_id for known in marked.values() for span_id in known}
        for span, name in sorted(self._find_long_open(now_ns), key=lambda found: found[0].start_ns):
            if span.span_id not in shown:
                shown.add(span.span_id)
                encoded = encode_span(make_marker(span, now_ns, shown), is_marker=True)
                self._pending.append(_Item(encoded, name, marks=span.span_id))

    def _find_long_open(self, now_ns: int) -> list[tuple[SpanData, str]]:
        return [
            (span, name)
            for name, follower in self._followers.items()
            if follower.is_idle
            for span in follower.open_spans
            if now_ns - span.start_ns > OPEN_AFTER_NS and span.span_id != _ZERO_SPAN
        ]

    # Sending.

    def _send_request(self) -> bool:
        """Send one request of what is pending; False when the rest has to wait."""
        number = take_request([item.span for item in self._pending[:MAX_SPANS]])
        settled, answer = self._outbox.send([item.span for item in self._pending[:number]])
        for item in self._pending[:settled]:
            self._settle(item)
        del self._pending[:settled]
        is_delivered = answer.outcome is Outcome.DELIVERED
        self._is_refused = not is_delivered and answer.outcome is not Outcome.RETRY
        if is_delivered:
            self._wait = 0.0
        else:
            self._put_off(answer)
        write_delivery(self._folder, self.delivery)
        return is_delivered

    def _settle(self, item: _Item) -> None:
        if item.position is not None:
            self.delivery.positions[item.key] = item.position
        if item.marks:
            self.delivery.markers.setdefault(item.key, []).append(item.marks)
        if self._sizes.add(item.span.trace_id, len(item.span.data)):
            if not self.delivery.oversized:
                self._tell(f"trace {item.span.trace_id} is larger than the 5 MB that Tempo keeps by default")
            self.delivery.oversized += 1

    def _put_off(self, answer: Answer) -> None:
        """Wait longer each time; as long as the endpoint asks for."""
        self._wait = min(max(self._wait * 2, _FIRST_WAIT), _LONGEST_WAIT)
        if answer.outcome is not Outcome.RETRY:
            self._wait = _LONGEST_WAIT
        self._is_told_to_wait = answer.retry_after > 0
        pause = max(answer.retry_after, self._wait * random.uniform(0.8, 1.2))  # noqa: S311 (no secret)
        self._retry_at = time.monotonic() + pause

    def _hasten(self) -> None:
        """Ask once more before the end: an endpoint that was away for long may be back. Not if it asked us to wait."""
        if not self._is_told_to_wait:
            self._wait, self._retry_at = 0.0, 0.0

    def _advance(self) -> bool:
        """With nothing pending, everything read is delivered; say whether that is news."""
        delivery = self.delivery
        before = (dict(delivery.positions), dict(delivery.cleared), dict(delivery.open_in), delivery.finished)
        for name, follower in self._followers.items():
            if follower.position >= delivery.positions.get(
                name, (0, 0)
            ):  # else what was delivered is read again
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
        known = self.delivery.markers.pop(str(follower.key), None)
        if known:
            is_open = {span.span_id for span in follower.open_spans}
            self.delivery.markers[str(follower.key)] = [span_id for span_id in known if span_id in is_open]


def _read_memory() -> int:
    """Give the most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
