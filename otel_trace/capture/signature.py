"""The parameters of a function, and the values of a call in their order."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_SELF = {"self", "cls"}
_MAX_EXTRA = 8
_MAX_EXTRA_NAMES = 32
_MAX_NAME_BYTES = 200


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
        self._own = named[0].name if self.skip else ""
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
        return given | self._name_rest(kwargs, given)

    def _name_rest(self, kwargs: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Give the keywords that go to `**kw`, under names that begin no other one."""
        rest: dict[str, Any] = {}
        for key, value in kwargs.items():
            if len(rest) >= _MAX_EXTRA_NAMES:
                break
            if key not in given and key != self._own:
                name = _cut(key).replace(".", "_")
                is_taken = not name or name in given or name in rest or name == self._var_positional
                rest[f"{name}_" if is_taken else name] = value
        return rest


def _cut(name: str) -> str:
    return name.encode("utf-8", "replace")[:_MAX_NAME_BYTES].decode("utf-8", "ignore")


def _read_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
