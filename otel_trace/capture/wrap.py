"""A function with a span around each call: guarded open, the bare call, guarded close."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opentelemetry import trace as trace_api

from otel_trace import names
from otel_trace._guard import report_failure, tell_once
from otel_trace.capture.signature import Binder
from otel_trace.describe.kind import name_kind
from otel_trace.emit.current import CURRENT, get_runtime, is_disabled
from otel_trace.emit.site import Site

_MAX_SITES = 64
_unfinished: list[Any] = []  # calls that had no stack left in which to end


class Caller:
    """Opens the spans of one function: a site for each way it is called."""

    def __init__(self, function: Callable[..., Any], name: str, stage: str | None) -> None:
        self._name = name
        self._stage = stage
        self._scope = getattr(function, "__module__", None) or "__main__"
        self._code = read_place(function)
        self._binder = Binder(function)
        self._num_args = self._binder.num_args
        self._skip = self._binder.skip
        self._site = self._make_site(self._binder.names)
        self._sites = {self._binder.names: self._site}

    def open(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Open the span of a call; None when there is none."""
        try:
            if not kwargs and len(args) == self._num_args:
                runtime = CURRENT.runtime
                if runtime.seen is not trace_api._TRACER_PROVIDER:
                    runtime = get_runtime()
                return runtime.open(self._site, args[self._skip :] if self._skip else args)
            given = self._binder.bind(args, kwargs)
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
        while _unfinished:
            _unfinished[-1].fail(error)
            _unfinished.pop()
        call.fail(error)
    except RecursionError:
        _unfinished.append(call)  # an outer call, which has the stack for it, will end it
    except Exception as failure:
        report_failure("the end of a span", failure)


def take_call(calls: list[Any]) -> Any:
    """Take the call that a block opened here: threads and tasks may have one block open at once."""
    if len(calls) < 2:
        return calls.pop() if calls else None
    current = trace_api.get_current_span()
    index = max(
        (i for i, call in enumerate(calls) if call is not None and call.is_current(current)), default=-1
    )
    if index < 0 and None in calls:
        index = calls.index(None)
    return calls.pop(index)


def wrap(function: Callable[..., Any], name: str | None, stage: str | None = None) -> Callable[..., Any]:
    """Put a span around every call of a function; when everything is disabled, give the function itself."""
    if is_disabled():
        return function
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(wrap(function.__func__, name, stage))
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
        if result is None:
            try:  # what `finish` does, without the price of calling it
                call.finish(None)
            except Exception as error:
                report_failure("the end of a span", error)
        else:
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


def make_text(name: Any) -> str:
    """Give a name as text, whatever was given as one."""
    return str.__str__(name) if isinstance(name, str) else name_kind(type(name))


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
