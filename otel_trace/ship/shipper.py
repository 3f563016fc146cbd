"""One run on one node, shipped: follow every process, send what has ended, show what has not, end by our own rule.

Everything is kept while the endpoint does not answer: what was read waits, and what was not read stands in
the journal. The shipper ends when its last producer has ended and all is sent, or 5 s after that producer.
"""

import gc
import random
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from otel_trace.cluster.process import ProcessKey, is_alive
from otel_trace.journal.bound import parse_name
from otel_trace.journal.delivery import Delivery, read_delivery, write_delivery
from otel_trace.ship.answer import Answer, Outcome
from otel_trace.ship.encode import EncodedSpan, encode_span
from otel_trace.ship.follow import Follower, Position
from otel_trace.ship.markers import make_interrupted, make_marker
from otel_trace.ship.outbox import Outbox, Sender, take_request

OPEN_AFTER_NS = 5_000_000_000
POLL = 0.2
_GRACE = 1.0
_LINGER = 5.0
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
_MAX_PENDING = 2048
_MAX_MEMORY = 300 * 2**20


@dataclass(frozen=True, slots=True)
class _Item:
    """A span to be sent, and the place in its process's journal that is reached with it."""

    span: EncodedSpan
    key: str
    position: Position | None = None


class Shipper:
    """Ships the journals in the folder of a run on this host."""

    def __init__(self, folder: Path, sender: Sender, tell: Callable[[str], None]) -> None:
        self.delivery = read_delivery(folder) or Delivery()
        self.delivery.endpoint = sender.endpoint
        self._folder = folder
        self._outbox = Outbox(sender, self.delivery, tell)
        self._followers: dict[str, Follower] = {}
        self._ended: set[str] = set(self.delivery.finished)
        self._pending: list[_Item] = []
        self._wait = 0.0
        self._retry_at = 0.0

    def run(self, *, is_following: bool = False) -> None:
        """Ship until there is nothing left to do.

        Python's collector would look through thousands of waiting spans again and again, for half of all the
        time; there are no cycles among them, and the memory is bounded otherwise.
        """
        gc.disable()
        try:
            self._run(is_following=is_following)
        finally:
            gc.enable()

    def _run(self, *, is_following: bool) -> None:
        alone_since: float | None = None
        while True:
            is_alone = not self._has_producers()
            alone_since = (alone_since or time.monotonic()) if is_alone else None
            has_moved = self.turn()
            if not is_following and alone_since is not None and self._is_over(alone_since):
                break
            if _read_memory() > _MAX_MEMORY:
                break
            if not has_moved:
                time.sleep(POLL)
        write_delivery(self._folder, self.delivery)

    def _is_over(self, alone_since: float) -> bool:
        alone = time.monotonic() - alone_since
        return alone > _LINGER or (alone > _GRACE and not self._pending and not self._followers)

    def _has_producers(self) -> bool:
        return any(is_alive(key) for key in self._find_processes())

    def turn(self) -> bool:
        """Read some, send some; say whether anything moved."""
        if not self._pending:
            self._read()
        has_sent = False
        while self._pending and time.monotonic() >= self._retry_at:
            if not self._send_request():
                break
            has_sent = True
        if (not self._pending and self._advance()) or has_sent:
            write_delivery(self._folder, self.delivery)
        return has_sent or bool(self._pending and time.monotonic() >= self._retry_at)

    # Reading.

    def _find_processes(self) -> list[ProcessKey]:
        found = {parsed[0] for path in self._folder.iterdir() if (parsed := parse_name(path.name))}
        return sorted((key for key in found if str(key) not in self._ended), key=str)

    def _read(self) -> None:
        """Take what the processes have written since, as far as memory allows."""
        for key in self._find_processes():
            if len(self._pending) >= _MAX_PENDING:
                return
            self._read_process(key)

    def _read_process(self, key: ProcessKey) -> None:
        name = str(key)
        follower = self._followers.get(name)
        if follower is None:
            delivered = self.delivery.positions.get(name, (0, 0))
            follower = self._followers[name] = Follower(self._folder, key, delivered)
        is_over = not is_alive(key)
        before = follower.position
        ended = follower.read(is_over=is_over)
        self._pending += [_Item(encode_span(span), name, position) for span, position in ended]
        if is_over and not ended and follower.position == before:
            self._finish(follower)
        elif not is_over and not ended:
            self._show_open(follower)

    def _finish(self, follower: Follower) -> None:
        """End what a dead process left open, and follow it no more."""
        name = str(follower.key)
        for span in follower.open_spans:
            self._pending.append(_Item(encode_span(make_interrupted(span, follower.last_ns)), name))
        follower.close()
        del self._followers[name]
        self._ended.add(name)

    def _show_open(self, follower: Follower) -> None:
        """Send a marker for each span that has been open for long, once."""
        now_ns = time.time_ns()
        marked = self.delivery.markers.setdefault(str(follower.key), [])
        known = set(marked)
        for span in follower.open_spans:
            if span.span_id not in known and now_ns - span.start_ns > OPEN_AFTER_NS:
                known.add(span.span_id)
                marked.append(span.span_id)
                self._pending.append(_Item(encode_span(make_marker(span, now_ns, known)), str(follower.key)))

    # Sending.

    def _send_request(self) -> bool:
        """Send one request of what is pending; False when it has to wait."""
        number = take_request([item.span for item in self._pending[:512]])
        request = self._pending[:number]
        answer = self._outbox.send([item.span for item in request])
        if answer.outcome is not Outcome.DELIVERED:
            self._put_off(answer)
            return False
        self._wait = 0.0
        del self._pending[:number]
        for item in request:
            if item.position is not None:
                self.delivery.positions[item.key] = item.position
        return True

    def _put_off(self, answer: Answer) -> None:
        """Wait longer each time; as long as the endpoint asks for."""
        self._wait = min(max(self._wait * 2, _FIRST_WAIT), _LONGEST_WAIT)
        if answer.outcome is Outcome.REFUSED:
            self._wait = _LONGEST_WAIT
        pause = max(answer.retry_after, self._wait * random.uniform(0.8, 1.2))  # noqa: S311 (no secret)
        self._retry_at = time.monotonic() + pause
        if not answer.is_reached:
            self.delivery.message = f"{self.delivery.endpoint} does not answer: {answer.reason}"
        write_delivery(self._folder, self.delivery)

    def _advance(self) -> bool:
        """With nothing pending, everything read is delivered; say whether that is news."""
        news = {name: follower.position for name, follower in self._followers.items()}
        finished = sorted(self._ended)
        is_news = finished != self.delivery.finished
        for name, position in news.items():
            if self.delivery.positions.get(name, (0, 0)) < position:
                self.delivery.positions[name] = position
                is_news = True
        self.delivery.finished = finished
        return is_news


def _read_memory() -> int:
    """Give the most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
