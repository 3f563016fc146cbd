"""`@traced`: a span per call, with parameters, return value and tensor facts."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from otel_trace.capture.wrap import wrap

P = ParamSpec("P")
R = TypeVar("R")


@overload
def traced(function: Callable[P, R], /) -> Callable[P, R]: ...


@overload
def traced(*, name: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def traced(function: Callable[..., Any] | None = None, /, *, name: str | None = None) -> Any:
    """Record every call of a function as a span.

    >>> import otel_trace as ot
    >>> @ot.traced
    ... def load(path: str) -> int:
    ...     return len(path)
    >>> load("data.bin")
    8
    """
    if function is None:
        return lambda wrapped: wrap(wrapped, name)
    return wrap(function, name)
