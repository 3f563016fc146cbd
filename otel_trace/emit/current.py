"""The runtime in use, found at the first span and again when the program sets another provider.

This module is light: the SDK is loaded when the first span is opened.
"""

import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from opentelemetry import trace as trace_api

from otel_trace import config

if TYPE_CHECKING:
    from otel_trace.emit.runtime import PlainRuntime

_UNSET = object()
_HEAVY = "otel_trace.emit.start"


class _Off:
    """What runs when nothing is to be recorded."""

    seen: Any = _UNSET

    def open(self, site: Any, values: Sequence[Any]) -> None:
        """Open nothing."""

    def open_planned(self, site: Any, plan: Any, facts: Any) -> None:
        """Open nothing."""


class _Current:
    """Holds the runtime in use; the hot path looks here before it asks `get_runtime`."""

    runtime: Any = _Off()


CURRENT = _Current()


def get_runtime() -> "PlainRuntime":
    """Give the runtime that the next span goes to."""
    runtime = CURRENT.runtime
    if runtime.seen is not trace_api._TRACER_PROVIDER:
        runtime = _find()
        if runtime.seen is not _UNSET:
            CURRENT.runtime = runtime
    return runtime  # type: ignore[no-any-return]


def _find() -> Any:
    if is_disabled():
        off = _Off()
        off.seen = trace_api._TRACER_PROVIDER
        return off
    find = getattr(importlib.import_module(_HEAVY), "find_runtime", None)
    return find() if find is not None else _Off()  # a signal came while the module is being loaded


def is_disabled() -> bool:
    """Say whether `OTEL_SDK_DISABLED` forbids everything."""
    return bool(config.read("OTEL_SDK_DISABLED"))


def configure(*, service_name: str = "", ship: bool = False) -> None:
    """Start recording for the whole program; everything not said here is read from the environment.

    Where the program has a provider of its own, that one's exporters send, and nothing is sent twice; `ship=True`
    sends the journal as well.

    >>> import otel_trace as ot
    >>> ot.configure()
    """
    if not is_disabled():
        CURRENT.runtime = importlib.import_module(_HEAVY).start(service_name=service_name, ship=ship)


def flush(timeout: float = 10.0) -> bool:
    """Wait until all spans so far are where they go: on disk and, with an exporter, acknowledged by the backend.

    True when they are, False when the time was over before.
    """
    heavy = sys.modules.get(_HEAVY)
    return heavy is None or bool(heavy.flush(timeout))


def shutdown() -> None:
    """End recording: what is written is complete."""
    heavy = sys.modules.get(_HEAVY)
    if heavy is not None:
        heavy.shutdown()
