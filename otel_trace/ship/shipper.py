"""One run on one node, shipped: send what the intake gives, keep the place, end by our own rule.

Everything is kept while the endpoint does not answer: what was read waits, and what was not read stands in
the journal. The shipper ends when its last producer has ended and all is sent, or 5 s after that producer.
"""

import gc
import random
import resource
import time
from collections.abc import Callable
from pathlib import Path

from otel_trace.cluster.process import ProcessKey, is_alive
from otel_trace.journal.delivery import Delivery, read_delivery, write_delivery
from otel_trace.ship.answer import Answer, Outcome
from otel_trace.ship.intake import Intake, Item
from otel_trace.ship.outbox import MAX_SPANS, Outbox, Sender, take_request
from otel_trace.ship.sizes import TraceSizes

POLL = 0.1
_QUIET = 5.0
_GRACE = 1.0
_LINGER = 5.0
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
_MAX_MEMORY = 300 * 2**20


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
        self._intake = Intake(folder, self.delivery, is_alive)
        self._outbox = Outbox(sender, self.delivery, tell)
        self._sizes = TraceSizes()
        self._pending: list[Item] = []
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
        moved_at = time.monotonic()
        while is_following or not self.is_over():
            has_moved = self.turn()
            if self.is_too_large():
                break
            if has_moved:
                moved_at = time.monotonic()
            else:
                gc.collect(0)
                is_quiet = time.monotonic() - moved_at > _QUIET
                time.sleep(POLL if not is_quiet else 2 * POLL)
        self.close()

    def turn(self) -> bool:
        """Read some, send some; say whether anything moved."""
        has_read = has_sent = False
        if not self._pending:
            self._pending, has_read = self._intake.read()
        while self._pending and time.monotonic() >= self._retry_at and self._send_request():
            has_sent = True
        if not self._pending and self._intake.note_all_delivered():
            write_delivery(self._folder, self.delivery)
        return has_sent or has_read

    def is_over(self) -> bool:
        """Say whether the last producer has ended and all is sent, or 5 s ago."""
        if self._intake.has_producers():
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
        return not self._pending and self._intake.is_drained()

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
        self._intake.close()

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

    def _settle(self, item: Item) -> None:
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


def _read_memory() -> int:
    """Give the most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
