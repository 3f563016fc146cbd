"""`span` and `stage`: a named span around a block of code, or around every call of a function."""

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from otel_trace import names
from otel_trace._guard import report_failure
from otel_trace.capture.wrap import fail, finish, make_text, take_call, wrap
from otel_trace.emit.current import get_runtime
from otel_trace.emit.site import Site

P = ParamSpec("P")
R = TypeVar("R")

_MAX_SITES = 1000
_sites: dict[tuple[Any, ...], Site] = {}


class span:  # noqa: N801 (used as a verb)
    """A span around a block of code, with attributes of the user's.

    >>> import otel_trace as ot
    >>> with ot.span("tokenize", batch=3):
    ...     pass
    """

    _stage: str | None = None

    def __init__(self, name: str, /, **attributes: Any) -> None:
        self._name = make_text(name)
        self._attributes = attributes
        self._calls: list[Any] = []

    def __enter__(self) -> Self:
        self._calls.append(self._open(sys._getframe(1)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        call = take_call(self._calls)
        if call is not None and error is not None:
            fail(call, error)
        elif call is not None:
            finish(call, None)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Put the span around every call of a function."""
        return wrap(function, self._name, self._stage)

    def _open(self, frame: Any) -> Any:
        try:
            site = find_site(self._name, frame, self._stage, tuple(self._attributes))
            return get_runtime().open(site, tuple(self._attributes.values()))
        except Exception as error:
            report_failure(f"the span {self._name}", error)
            return None


class stage(span):  # noqa: N801 (used as a verb)
    """A span that is a stage of the step: the spans within it carry its name.

    >>> import otel_trace as ot
    >>> @ot.stage("forward")
    ... def forward(x: float) -> float:
    ...     return 2 * x
    >>> with ot.stage("data"):
    ...     forward(1.0)
    2.0
    """

    def __init__(self, name: str, /, **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self._stage = self._name


def find_site(name: str, frame: Any, stage_name: str | None, params: tuple[str, ...]) -> Site:
    """Give the site of a block; one for each place and name, as long as those are few."""
    code = frame.f_code
    key = (code.co_filename, code.co_qualname, frame.f_lineno, name, stage_name, params)
    site = _sites.get(key)
    if site is None:
        site = Site(
            name,
            frame.f_globals.get("__name__") or "__main__",
            attributes={
                names.FUNCTION: f"{frame.f_globals.get('__name__', '__main__')}.{code.co_qualname}",
                names.FILE: code.co_filename,
                names.LINE: frame.f_lineno,
            },
            params=params,
            stage=stage_name,
        )
        if len(_sites) < _MAX_SITES:
            _sites[key] = site
    return site
