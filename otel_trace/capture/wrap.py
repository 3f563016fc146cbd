"""A function with a span around each call: guarded open, the bare call, guarded close."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from otel_trace import names
from otel_trace._guard import report_failure, tell_once
from otel_trace.capture.signature import Binder
from otel_trace.emit.current import get_runtime, is_disabled
from otel_trace.emit.site import Site

_MAX_SITES = 64


class Caller:
    """Opens the spans of one function: a site for each way it is called."""

    def __init__(self, function: Callable[..., Any], name: str, stage: str | None) -> None:
        self._name = name
        self._stage = stage
        self._scope = getattr(function, "__module__", None) or "__main__"
        self._code = read_place(function)
        self._binder = Binder(function)
        self._bind = self._binder.bind
        self._site = self._make_site(self._binder.names)
        self._sites = {self._binder.names: self._site}

    def open(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Open the span of a call; None when there is none."""
        try:
            values = self._bind(args, kwargs)
            if values is not None:
                return get_runtime().open(self._site, values)
            given = self._binder.bind_extra(args, kwargs)
            return get_runtime().open(self._site_for(tuple(given)), tuple(given.values()))
        except Exception as error:
            report_failure(f"the span of {self._name}", error)
            return None

    def _site_for(self, params: tuple[str, ...]) -> Site:
        site = self._sites.get(params)
        if site is None:
            site = self._make_site(params)
            if len(self._sites) < _MAX_SITES:
                self._sites[params] = site
        return site

    def _make_site(self, params: Sequence[str]) -> Site:
        return Site(
            self._name,
            self._scope,
            attributes=self._code,
            params=[names.PARAM + name for name in params],
            stage=self._stage,
        )


def finish(call: Any, result: Any) -> None:
    """End a call's span with its return value."""
    try:
        call.finish(None if result is None else get_runtime().describe(result))
    except Exception as error:
        report_failure("the end of a span", error)


def fail(call: Any, error: BaseException) -> None:
    """End a call's span with the exception that left it."""
    try:
        call.fail(error)
    except Exception as failure:
        report_failure("the end of a span", failure)


def wrap(function: Callable[..., Any], name: str | None, stage: str | None = None) -> Callable[..., Any]:
    """Put a span around every call of a function; when everything is disabled, give the function itself."""
    if is_disabled():
        return function
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        tell_once(
            f"wrap/{function.__qualname__}", f"{function.__qualname__} is a generator: it runs without a span"
        )
        return function
    name = name or stage or str(getattr(function, "__qualname__", type(function).__name__))
    caller = Caller(function, name, stage)
    return (
        _wrap_coroutine(function, caller)
        if inspect.iscoroutinefunction(function)
        else _wrap_plain(function, caller)
    )


def _wrap_plain(function: Callable[..., Any], caller: Caller) -> Callable[..., Any]:
    open_call = caller.open

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = open_call(args, kwargs)
        if call is None:
            return function(*args, **kwargs)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            fail(call, error)
            raise
        finish(call, result)
        return result

    return wrapper


def _wrap_coroutine(function: Callable[..., Any], caller: Caller) -> Callable[..., Any]:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = caller.open(args, kwargs)
        if call is None:
            return await function(*args, **kwargs)
        try:
            result = await function(*args, **kwargs)
        except BaseException as error:
            fail(call, error)
            raise
        finish(call, result)
        return result

    return wrapper


def read_place(function: Callable[..., Any]) -> dict[str, Any]:
    """Give where a function stands in the code."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    module = getattr(function, "__module__", None) or "__main__"
    place: dict[str, Any] = {
        names.FUNCTION: f"{module}.{getattr(function, '__qualname__', type(function).__name__)}"
    }
    if code is not None:
        place |= {names.FILE: code.co_filename, names.LINE: code.co_firstlineno}
    return place
