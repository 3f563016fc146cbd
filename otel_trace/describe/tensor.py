"""Tensors of torch: shape, dtype, device, and the summary that one searches for. No data is read.

torch is never imported: a type can only be a tensor's when the program has imported torch.
"""

import sys
from collections.abc import Callable
from typing import Any

from otel_trace import names
from otel_trace.describe.facts import Facts

_MAX_KNOWN = 20_000
_known: dict[Any, Facts] = {}


def find_describer(kind: type) -> Callable[[Any], Facts] | None:
    """Give the describer of a type, if it is a tensor's."""
    torch = sys.modules.get("torch")
    tensor = getattr(torch, "Tensor", None)
    return describe_tensor if isinstance(tensor, type) and issubclass(kind, tensor) else None


def describe_tensor(value: Any) -> Facts:
    """Describe a tensor; equal facts are one object."""
    key = (value.dtype, value.shape, value.device)
    try:
        return _known[key]
    except (KeyError, TypeError):
        return _describe_new(*key)


def _describe_new(dtype: Any, shape: Any, device: Any) -> Facts:
    facts = make_facts([int(size) for size in shape], str(dtype).removeprefix("torch."), str(device))
    if len(_known) >= _MAX_KNOWN:
        _known.clear()
    _known[dtype, shape, device] = facts
    return facts


def make_facts(shape: list[int], dtype: str, device: str) -> Facts:
    """Write down the facts of an array; an empty shape is left to the summary."""
    facts: dict[str, Any] = {
        names.DTYPE: dtype,
        names.DEVICE: device,
        names.SUMMARY: f"{dtype}{shape} {device}",
    }
    return Facts({names.SHAPE: shape, **facts} if shape else facts)
