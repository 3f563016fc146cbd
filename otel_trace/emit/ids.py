"""Random ids from a generator of our own: the user's `random` is never touched.

A trace id never begins with the hex digit 0 (Tempo's search cuts it) and no id is zero.
"""

import contextlib
import os
import random
import threading
from collections.abc import Iterator

_random = random.Random()  # noqa: S311 (ids, not secrets)
draw_bits = _random.getrandbits
_TOP_DIGIT = 1 << 124


class _Planned(threading.local):
    """Ids that the next ordinary span of this thread must have."""

    trace_id: int | None = None
    span_id: int | None = None


_planned = _Planned()


@contextlib.contextmanager
def plan_ids(trace_id: int, span_id: int) -> Iterator[None]:
    """Let the span that is started meanwhile have these ids."""
    _planned.trace_id, _planned.span_id = trace_id, span_id
    try:
        yield
    finally:
        _planned.trace_id = _planned.span_id = None


def new_span_id() -> int:
    """Give a random span id, or the planned one."""
    return _planned.span_id or draw_bits(64) or 1


def new_trace_id() -> int:
    """Give a random trace id, or the planned one."""
    trace_id = _planned.trace_id or draw_bits(128)
    return trace_id if trace_id >= _TOP_DIGIT else trace_id | _TOP_DIGIT


def reseed() -> None:
    """Begin a new sequence, as a forked child must."""
    _random.seed(os.urandom(32))


os.register_at_fork(after_in_child=reseed)
