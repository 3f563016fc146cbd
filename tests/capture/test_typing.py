"""What mypy sees of decorated functions: `make lint` checks the types, the tests that they are true."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, assert_type

import otel_trace as ot
from tests.capture.recording import call

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from tests.capture.recording import Recording


@ot.traced
def load(path: str, *, size: int = 1) -> list[str]:
    """Give a list."""
    return [path] * size


@ot.traced(name="other")
def named(x: int) -> float:
    """Give half."""
    return x / 2


@ot.stage("data")
def staged(x: int) -> float:
    """Give half."""
    return x / 2


@ot.span("data")
async def later(x: int) -> float:
    """Give half, later."""
    return x / 2


class Model:
    """Decorated methods."""

    @ot.traced
    def forward(self, x: int) -> float:
        return x / 2

    @classmethod
    @ot.traced
    def make(cls, x: int) -> float:
        return x / 2

    @staticmethod
    @ot.stage("check")
    def check(x: int) -> float:
        return x / 2

    @property
    @ot.traced
    def size(self) -> int:
        return 2


def test_results_keep_their_types(recording: Recording) -> None:
    """A decorated function returns what it returned, for a type checker too."""
    assert ["a", "a"] == assert_type(load("a", size=2), list[str])
    assert 1.0 == assert_type(named(2), float)
    assert 1.0 == assert_type(staged(2), float)
    assert 1.0 == assert_type(asyncio.run(later(2)), float)
    model = Model()
    assert 1.0 == assert_type(model.forward(2), float)
    assert 1.0 == assert_type(model.make(2), float)
    assert 1.0 == assert_type(Model.check(2), float)
    assert 2 == assert_type(model.size, int)


def test_a_decorated_function_goes_wherever_the_bare_one_did() -> None:
    """A parameter that wants a function of these types takes it."""

    def half(x: int) -> float:
        return x / 2

    async def half_later(x: int) -> float:
        return x / 2

    plain: list[Callable[[int], float]] = [ot.traced(half), ot.traced(name="x")(half), ot.stage("x")(half)]
    coroutines: list[Callable[[int], Coroutine[Any, Any, float]]] = [ot.traced(half_later), later]
    assert 5 == len(plain) + len(coroutines)


def test_a_wrong_call_is_seen_by_a_type_checker(recording: Recording) -> None:
    """Each line would be an unused ignore if mypy did not see the mistake."""
    assert isinstance(call(lambda: load(size=2)), TypeError)  # type: ignore[call-arg]
    assert isinstance(call(lambda: load("a", 2)), TypeError)  # type: ignore[call-arg]
    assert isinstance(call(lambda: load(5, size="2")), TypeError)  # type: ignore[arg-type]
    assert isinstance(call(lambda: named("a")), TypeError)  # type: ignore[arg-type]
    assert isinstance(call(lambda: Model().forward()), TypeError)  # type: ignore[call-arg]


def test_a_block_has_its_own_type_inside(recording: Recording) -> None:
    """What `as` gives is the block."""
    with ot.span("a") as outer, ot.stage("b") as inner, ot.step(1) as step:
        assert_type(outer, ot.span)
        assert_type(inner, ot.stage)
        assert_type(step, ot.step)
    assert [True, True, True] == [outer is not None, isinstance(inner, ot.span), isinstance(step, ot.step)]
