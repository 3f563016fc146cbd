"""What happens when our own code fails inside the user's program.

The loss is counted by whoever calls, the user is told once per place, and the program goes on. Told by
logging, not by `warnings`: a warning turned into an error would raise into the user's code. With
`OTELTRACE_STRICT=1` the failure is raised instead.
"""

import contextlib
import logging

from otel_trace import config

_logger = logging.getLogger("otel_trace")
_told: set[str] = set()
_MAX_TOLD = 1000


def tell_once(place: str, message: str) -> None:
    """Log one line for `place`, the first time only."""
    if place not in _told and len(_told) < _MAX_TOLD:
        _told.add(place)
        with contextlib.suppress(Exception):  # a handler of the user's
            _logger.warning("otel_trace: %s", message)


def report_failure(place: str, error: BaseException) -> None:
    """Tell once that `place` failed with `error`; raise it when strict."""
    if config.read("OTELTRACE_STRICT"):
        raise error
    tell_once(place, f"{place} failed ({_name(error)}); the program goes on without it")


def _name(error: BaseException) -> str:
    """Give the exception in words; one that the user's code raised may refuse to be a string."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 (whatever the user's code raises)
        return type.__dict__["__name__"].__get__(type(error))  # type: ignore[no-any-return]


def forget_what_was_told() -> None:
    """Tell everything again, as a new process would."""
    _told.clear()
