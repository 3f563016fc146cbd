"""The time of our spans: monotonic, with one anchor to the wall clock when the process began."""

import time

_ANCHOR = time.time_ns() - time.monotonic_ns()


def now_ns() -> int:
    """Give the time in nanoseconds since 1970; it never goes back."""
    return time.monotonic_ns() + _ANCHOR


def read_anchor() -> int:
    """Give what was added to the monotonic clock."""
    return _ANCHOR
