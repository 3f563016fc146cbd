"""See inside training: what every rank did in every step, in the terminal, in Jaeger and in Grafana.

Names are loaded when they are first used: importing this package loads neither torch, numpy, the OTel SDK
nor any exporter.
"""

import importlib
from typing import TYPE_CHECKING, Any

from otel_trace.version import __version__

if TYPE_CHECKING:
    from otel_trace.capture.block import span, stage
    from otel_trace.capture.step import step
    from otel_trace.capture.traced import traced
    from otel_trace.emit.current import configure, flush, shutdown

_HOMES = {
    "configure": "otel_trace.emit.current",
    "flush": "otel_trace.emit.current",
    "shutdown": "otel_trace.emit.current",
    "span": "otel_trace.capture.block",
    "stage": "otel_trace.capture.block",
    "step": "otel_trace.capture.step",
    "traced": "otel_trace.capture.traced",
}

__all__ = ["__version__", "configure", "flush", "shutdown", "span", "stage", "step", "traced", "view"]


def __getattr__(name: str) -> Any:
    """Load a public name from where it lives."""
    if name == "view":
        return importlib.import_module("otel_trace.view")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'otel_trace' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
