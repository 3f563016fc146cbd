from __future__ import annotations

import asyncio
import traceback
from typing import TYPE_CHECKING, Any

import pytest

import otel_trace as ot
from tests.capture.recording import Tree, call

if TYPE_CHECKING:
    from tests.capture.recording import Recording


class Hostile(Exception):
    """An exception that objects to being asked anything."""

    def __str__(self) -> str:
        raise AssertionError

    __repr__ = __str__
    __eq__ = __hash__ = None  # type: ignore[assignment]


@ot.traced
def fail(error: Any) -> None:
    """Raise."""
    raise error


def list_functions(error: BaseException) -> list[str]:
    """Name the functions that an exception passed, the one that raised it last."""
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


@pytest.mark.parametrize(
    "error",
    [ValueError("no"), KeyError(), Hostile("no"), StopIteration(5), ExceptionGroup("two", [ValueError("a")])],
    ids=lambda error: type(error).__name__,
)
def test_an_exception_comes_out_unchanged(recording: Recording, error: Exception) -> None:
    """It is the same object, with the user's frames in its traceback and nothing added to it."""
    caught = call(fail, error)
    assert error is caught
    functions = list_functions(error)
    assert ("call", "fail") == (functions[0], functions[-1])
    assert (None, None) == (error.__cause__, error.__context__)
    assert "__notes__" not in vars(error)
    tree = recording.tree()
    assert tree.status.startswith(f"error {type(error).__name__}")
    assert ["exception"] == tree.events


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit(), asyncio.CancelledError()]
)
def test_what_is_no_error_passes_without_one(recording: Recording, error: BaseException) -> None:
    """An interrupt or an exit ends the span, which has not failed, as in the SDK."""
    assert error is call(fail, error)
    assert Tree("fail", {"param.error.type": tree_type(error)}) == recording.tree()


def tree_type(error: BaseException) -> str:
    """Name a type as descriptions do."""
    return f"{type(error).__module__}.{type(error).__qualname__}"


def test_an_exception_is_told_where_it_passed(recording: Recording) -> None:
    """Inner and outer span have failed, each with the event and the message."""

    @ot.traced(name="outer")
    def outer() -> None:
        fail(ValueError("no"))

    call(outer)
    status, events = "error ValueError: no", ["exception"]
    inner = Tree("fail", {"param.error.type": "builtins.ValueError"}, [], status, events)
    assert Tree("outer", {}, [inner], status, events) == recording.tree()


def test_a_caught_exception_leaves_the_outer_span_well(recording: Recording) -> None:
    """Only the spans that an exception leaves have failed."""

    @ot.traced(name="outer")
    def outer() -> int:
        return 1 if isinstance(call(fail, ValueError("no")), ValueError) else 0

    assert 1 == outer()
    tree = recording.tree()
    assert ("unset", ["error ValueError: no"]) == (tree.status, [child.status for child in tree.children])


def test_the_event_has_type_message_and_stack(recording: Recording) -> None:
    """The stack in the event is the one that Python would print, with the user's line in it."""
    call(fail, ValueError("no"))
    (span,) = recording.spans()
    attributes = span.events[0].attributes
    assert ("ValueError", "no") == (attributes["exception.type"], attributes["exception.message"])
    assert "raise error\n" in attributes["exception.stacktrace"]
    assert attributes["exception.stacktrace"].endswith("ValueError: no\n")


def test_the_users_own_context_is_kept(recording: Recording) -> None:
    """`raise ... from ...` is what the user wrote, also through a span."""

    @ot.traced
    def chain() -> None:
        try:
            fail(KeyError("first"))
        except KeyError as error:
            raise ValueError("second") from error

    caught = call(chain)
    assert caught is not None
    assert (ValueError, KeyError) == (type(caught), type(caught.__cause__))


def test_deep_recursion_raises_pythons_own_error(recording: Recording) -> None:
    """A function without an end is a RecursionError of the user's, and recording goes on after it."""

    @ot.traced(name="deep")
    def deep(n: int) -> int:
        return deep(n + 1)

    assert isinstance(call(deep, 0), RecursionError)
    with ot.span("after"):
        pass
    first, *_, last = recording.spans()
    assert ("deep", "error", False) == (first.name, first.status, first.is_open)
    assert ("after", None, False) == (last.name, last.parent_id, last.is_open)


def test_deep_recursion_leaves_no_span_open(recording: Recording) -> None:
    """Also the innermost of a thousand calls, which had no room to be told, ends."""

    @ot.traced(name="deep")
    def deep(n: int) -> int:
        return deep(n + 1)

    call(deep, 0)
    assert [] == [span.name for span in recording.spans() if span.is_open]
