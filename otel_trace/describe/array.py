"""Arrays and scalars of numpy. numpy is never imported: only a program that has it can hand us one."""

import sys
from collections.abc import Callable
from typing import Any

from otel_trace.describe.facts import Facts
from otel_trace.describe.scalar import describe_complex, describe_float, describe_int
from otel_trace.describe.tensor import make_facts

_MAX_KNOWN = 20_000
_MAX_DTYPE = 80
_known: dict[Any, Facts] = {}


def find_array_describer(kind: type) -> Callable[[Any], Any] | None:
    """Give the describer of a type, if it is an array's."""
    ndarray = _find_class("ndarray")
    if ndarray is None or not issubclass(kind, ndarray):
        return None
    return lambda value: describe_array(value, ndarray)


def find_scalar_describer(kind: type) -> Callable[[Any], Any] | None:
    """Give the describer of a type, if it is a scalar's that is not one of Python's too."""
    generic = _find_class("generic")
    if generic is None or not issubclass(kind, generic):
        return None
    numpy: Any = sys.modules["numpy"]
    if issubclass(kind, numpy.bool_):
        return lambda value: bool(generic.item(value))
    if issubclass(kind, numpy.integer) and not issubclass(kind, numpy.timedelta64):
        return lambda value: describe_int(generic.item(value))
    if issubclass(kind, numpy.floating):
        return lambda value: describe_float(numpy.floating.__float__(value))
    if issubclass(kind, (numpy.complex64, numpy.complex128)):
        return lambda value: describe_complex(generic.item(value))
    return None


def _find_class(name: str) -> Any:
    found = getattr(sys.modules.get("numpy"), name, None)
    return found if isinstance(found, type) else None


def describe_array(value: Any, ndarray: Any) -> Facts | dict[str, Any]:
    """Describe an array through numpy's own descriptors, past what a subclass overrides."""
    shape, dtype = ndarray.shape.__get__(value), ndarray.dtype.__get__(value)
    if dtype.isbuiltin != 1:  # made by the user: with fields, metadata, another byte order
        return make_facts(shape, _name_dtype(dtype), "cpu")
    facts = _known.get((shape, dtype))
    if facts is None:
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        facts = _known[shape, dtype] = Facts(make_facts(shape, dtype, "cpu"))
    return facts


def _name_dtype(dtype: Any) -> str:
    name = str(dtype)
    return name if len(name) <= _MAX_DTYPE else f"{name[:_MAX_DTYPE]}..."
