"""What the SDK reads of the environment only for its own set-up program: samplers of other packages, and limits.

A bad value costs one line, never an exception.
"""

import importlib
import os
from typing import Any

from opentelemetry.sdk.trace import SpanLimits, sampling

from otel_trace._guard import tell_once

_GROUP = "opentelemetry_traces_sampler"


def read_sampler() -> sampling.Sampler:
    """Give the sampler of `OTEL_TRACES_SAMPLER`: the SDK's own, or what a package publishes under that name."""
    name = os.environ.get("OTEL_TRACES_SAMPLER", "").strip()
    try:
        if name and name.lower() not in sampling._KNOWN_SAMPLERS:
            return _load_sampler(name)
        return sampling._get_from_env_or_default()
    except Exception as error:
        default = sampling.DEFAULT_ON.get_description()
        tell_once("sampler", f"OTEL_TRACES_SAMPLER={name[:100]!r}: {error}; using {default}")
        return sampling.DEFAULT_ON


def _load_sampler(name: str) -> sampling.Sampler:
    metadata = importlib.import_module("importlib.metadata")  # 9 ms that hardly anybody needs
    found = next(iter(metadata.entry_points(group=_GROUP, name=name)), None)
    if found is None:
        known = ", ".join(sorted(sampling._KNOWN_SAMPLERS))
        raise LookupError(f"no package publishes such a sampler, and the SDK has {known}")
    sampler: Any = found.load()(os.environ.get("OTEL_TRACES_SAMPLER_ARG", ""))
    if not isinstance(sampler, sampling.Sampler):
        raise TypeError(f"{found.value} made no sampler")
    return sampler


def read_limits() -> SpanLimits:
    """Give the limits of spans, the SDK's default ones where one cannot be read."""
    try:
        return SpanLimits()
    except ValueError:
        limits = {
            name: text for name, text in os.environ.items() if name.startswith("OTEL_") and "_LIMIT" in name
        }
        bad = ", ".join(
            f"{name}={text[:100]!r}" for name, text in limits.items() if not text.strip().isdecimal()
        )
        tell_once("limits", f"{bad}: expected a whole number; using the SDK's default limits")
        return SpanLimits(128, 128, 128, 128, 128, 128, SpanLimits.UNSET, SpanLimits.UNSET)
