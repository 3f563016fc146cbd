"""Tensors of torch: shape, dtype, device, and the summary that one searches for. No data is read.

torch is never imported: a type can only be a tensor's when the program has imported torch. What a subclass
says of itself in Python is not asked; torch's own attributes are.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from otel_trace import names
from otel_trace.describe.facts import Facts

_MAX_KNOWN = 20_000
_known: dict[Any, Facts] = {}


def find_describer(kind: type) -> Callable[[Any], Any] | None:
    """Give the describer of a type, if it is a tensor's."""
    torch: Any = sys.modules.get("torch")
    tensor = getattr(torch, "Tensor", None)
    if not isinstance(tensor, type) or not issubclass(kind, tensor):
        return None
    parameter = getattr(getattr(torch, "nn", None), "Parameter", None)
    return describe_tensor if kind is tensor or kind is parameter else _describe_new


def describe_tensor(value: Any) -> Facts | dict[str, Any]:
    """Describe a tensor of torch's own type; equal facts are one object."""
    try:
        return _known[value.dtype, value.shape, value.device]
    except Exception:  # noqa: BLE001 (not known yet; sizes that are symbols; a nested tensor, which has no shape)
        return _describe_new(value)


def _describe_new(value: Any) -> Facts | dict[str, Any]:
    """Describe any tensor, past what its class or a mode of the user's would do about it."""
    torch = sys.modules["torch"]
    base = torch._C.TensorBase  # noqa: SLF001 (the public classes pass through what the user overrides)
    with torch._C.DisableTorchFunction():  # noqa: SLF001 (the same)
        shape = _read_shape(base, value)
        key = (base.dtype.__get__(value), shape, base.device.__get__(value))
    if shape is None or any(type(size) is not int for size in shape):
        return make_facts(shape, key[0], key[2])
    facts = _known.get(key)
    if facts is None:
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        facts = _known[key] = Facts(make_facts(shape, key[0], key[2]))
    return facts


def _read_shape(base: Any, value: Any) -> Any:
    """Give the shape; None where there is none."""
    try:
        return base.shape.__get__(value)
    except RuntimeError:
        return None


def make_facts(shape: Sequence[Any] | None, dtype: Any, device: Any) -> dict[str, Any]:
    """Write down the facts of an array; an empty shape is left to the summary, a size that is a symbol is -1."""
    sizes = [int(size) if type(size) is int else -1 for size in shape or ()]
    words = "?" if shape is None else ", ".join(map(str, shape))
    kind = str(dtype).removeprefix("torch.")
    facts: dict[str, Any] = {
        names.DTYPE: kind,
        names.DEVICE: str(device),
        names.SUMMARY: f"{kind}[{words}] {device}",
    }
    return {names.SHAPE: sizes, **facts} if sizes else facts
