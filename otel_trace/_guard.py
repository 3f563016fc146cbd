"""What happens when our own code fails inside the user's program.

The loss is counted by whoever calls, the user is told once per place, and the program goes on. Told by
logging, not by `warnings`: a warning turned into an error would raise into the user's code. With
`OTELTRACE_STRICT=1` the failure is raised instead.
"""

import logging

from otel_trace import config

_logger = logging.getLogger("otel_trace")
_told: set[str] = set()


def tell_once(place: str, message: str) -> None:
    """Log one line for `place`, the first time only."""
    if place not in _told:
        _told.add(place)
        _logger.warning("otel_trace: %s", message)


def report_failure(place: str, error: BaseException) -> None:
    """Tell once that `place` failed with `error`; raise it when strict."""
    if config.read("OTELTRACE_STRICT"):
        raise error
    tell_once(place, f"{place} failed ({type(error).__name__}: {error}); the program goes on without it")


def forget_what_was_told() -> None:
    """Tell everything again, as a new process would."""
    _told.clear()
