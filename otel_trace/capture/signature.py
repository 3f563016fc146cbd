"""The parameters of a function, and the values of a call in their order."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_SELF = {"self", "cls"}
_MAX_EXTRA = 8


class Binder:
    """Knows the names that are captured, and finds their values in a call.

    A call with `num_args` positional arguments and nothing else gives every name its value, in order, after the
    first `skip` of them (`self`, `cls`). Any other call is for `bind`: `*args` are named `args.0`, `args.1` ...,
    keywords that go to `**kw` have their own name.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        parameters = _read_parameters(function)
        named = [p for p in parameters if p.kind not in {p.VAR_POSITIONAL, p.VAR_KEYWORD}]
        self.skip = int(bool(named) and named[0].name in _SELF and named[0].kind in _POSITIONAL)
        named = named[self.skip :]
        self.names = tuple(p.name for p in named)
        self._positional = sum(p.kind in _POSITIONAL for p in named)
        self._defaults = {p.name: p.default for p in named if p.default is not p.empty}
        is_simple = self._positional == len(parameters) - self.skip
        self.num_args = self.skip + len(self.names) if is_simple else -1
        self._var_positional = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Give the values of a call by name, defaults included; a wrong call gives what can be told."""
        positional = dict(zip(self.names[: self._positional], args[self.skip :], strict=False))
        known = {**self._defaults, **kwargs, **positional}
        given = {name: known[name] for name in self.names if name in known}
        if self._var_positional:
            extra = args[self.skip + self._positional :]
            given |= {
                f"{self._var_positional}.{index}": value for index, value in enumerate(extra[:_MAX_EXTRA])
            }
        return given | {name: value for name, value in kwargs.items() if name not in given}


def _read_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
