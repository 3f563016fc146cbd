"""The ladder: the exact type of a value says who describes it; unknown types are learnt once.

A value becomes a scalar (int, float, bool, str), a `Facts` that many values share, or a dict of facts made
for this one value. Types that nobody claims are described by their name alone.
"""

from collections.abc import Callable
from typing import Any

from otel_trace import config
from otel_trace.describe import array, tensor
from otel_trace.describe.container import describe_container
from otel_trace.describe.kind import describe_kind, is_lasting
from otel_trace.describe.scalar import describe_complex, describe_float, describe_int, describe_text, keep

Describer = Callable[[Any], Any]

_MAX_TYPES = 10_000
_mro = type.__dict__["__mro__"].__get__


class Ladder:
    """Describers by exact type; `values` is all, numbers or none (shapes are always told)."""

    def __init__(self, values: str = "all") -> None:
        scalars: dict[type, Describer] = {
            bool: keep,
            int: describe_int,
            float: describe_float,
            complex: describe_complex,
            str: describe_text if values == "all" else describe_kind,
        }
        if values == "none":
            scalars = dict.fromkeys(scalars, describe_kind)
        containers: tuple[type, ...] = (list, tuple, dict)
        self._rungs: dict[type, Describer] = {**scalars, **dict.fromkeys(containers, self._container)}
        self._keeps_scalars = values != "none"
        self.by_type: dict[type, Describer] = {**self._rungs, type(None): describe_kind}

    def describe(self, value: Any) -> Any:
        """Describe any value."""
        kind = type(value)
        try:
            found = self.by_type.get(kind)
        except Exception:  # noqa: BLE001 (a metaclass of the user's may refuse to be hashed)
            found = None
        return (found or self.learn(kind))(value)

    def learn(self, kind: type) -> Describer:
        """Find who describes a type, and remember it where that keeps nothing alive."""
        found = self._find(kind)
        if is_lasting(kind) and len(self.by_type) < _MAX_TYPES:
            self.by_type[kind] = found
        return found

    def _find(self, kind: type) -> Describer:
        found = tensor.find_describer(kind) or array.find_array_describer(kind)
        if found is None and self._keeps_scalars:
            found = array.find_scalar_describer(kind)
        return found or self._find_base(kind)

    def _find_base(self, kind: type) -> Describer:
        """Find the describer of the first base that has one; types are told apart by identity alone."""
        for base in _mro(kind):
            for known, describer in self._rungs.items():
                if base is known:
                    return describer
        return describe_kind

    def _container(self, value: Any) -> Any:
        return describe_container(value, self.describe)


def make_ladder() -> Ladder:
    """Make the ladder that the environment asks for."""
    return Ladder(config.read("OTELTRACE_VALUES"))
