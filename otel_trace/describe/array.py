"""Arrays and scalars of numpy. numpy is never imported: only a program that has it can hand us one."""

import sys
from collections.abc import Callable
from typing import Any

from otel_trace.describe.facts import Facts
from otel_trace.describe.scalar import describe_float, describe_int
from otel_trace.describe.tensor import make_facts

_MAX_KNOWN = 20_000
_known: dict[Any, Facts] = {}


def find_describer(kind: type) -> Callable[[Any], Any] | None:
    """Give the describer of a type, if it is one of numpy's."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(getattr(numpy, "ndarray", None), type):
        return None
    if issubclass(kind, numpy.ndarray):
        return lambda value: describe_array(value, numpy.ndarray)
    if issubclass(kind, numpy.bool_):
        return bool
    if issubclass(kind, numpy.integer):
        return lambda value: describe_int(int(value))
    if issubclass(kind, numpy.floating):
        return lambda value: describe_float(float(value))
    return None


def describe_array(value: Any, ndarray: Any) -> Facts:
    """Describe an array through numpy's own descriptors, past what a subclass overrides."""
    shape, dtype = ndarray.shape.__get__(value), ndarray.dtype.__get__(value)
    key = (shape, dtype)
    facts = _known.get(key)
    if facts is None:
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        facts = _known[key] = make_facts([int(size) for size in shape], str(dtype), "cpu")
    return facts
