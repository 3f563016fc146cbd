from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING

import otel_trace as ot
from tests.capture.recording import Tree

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.capture.recording import Recording


@ot.traced
async def fetch(path: str) -> int:
    """Fetch."""
    await asyncio.sleep(0)
    return len(path)


@ot.stage("data")
async def gather(num: int) -> int:
    """Fetch at once."""
    return sum(await asyncio.gather(*(fetch("a" * size) for size in range(num))))


@ot.traced
async def fail() -> None:
    """Fail later."""
    await asyncio.sleep(0)
    raise ValueError("no")


def test_a_coroutine_is_a_span_from_its_first_step_to_its_end(recording: Recording) -> None:
    """It has parameters and a result, and is still a coroutine function."""
    assert inspect.iscoroutinefunction(fetch)
    assert 3 == asyncio.run(fetch("abc"))
    assert Tree("fetch", {"param.path": "abc", "return.value": 3}) == recording.tree()


def test_a_coroutine_that_is_never_awaited_is_no_span(recording: Recording) -> None:
    """Making a coroutine does nothing yet."""
    fetch("abc").close()
    assert [] == recording.trees()


def test_tasks_are_below_what_started_them(recording: Recording) -> None:
    """Tasks that run at once are side by side, each with its own values, within their stage."""
    assert 3 == asyncio.run(gather(3))
    stage = {"training.stage": "data"}
    children = [Tree("fetch", {**stage, "param.path": "a" * size, "return.value": size}) for size in range(3)]
    assert Tree("data", {**stage, "param.num": 3, "return.value": 3}, children) == recording.tree()


def test_blocks_in_tasks_that_take_turns_stay_apart(recording: Recording) -> None:
    """A task that waits within a block does not put others below it."""

    async def work(name: str) -> None:
        with ot.span(name):
            await asyncio.sleep(0)
            await fetch(name)

    async def main() -> None:
        await asyncio.gather(work("a"), work("b"))

    asyncio.run(main())
    expected = [Tree(name, {}, [Tree("fetch", {"param.path": name, "return.value": 1})]) for name in "ab"]
    assert expected == recording.trees()


def test_a_coroutine_fails_with_the_users_exception(recording: Recording) -> None:
    """The exception comes out of `await`, and the span has failed."""

    async def main() -> str:
        try:
            await fail()
        except ValueError as error:
            return str(error)
        return ""

    assert "no" == asyncio.run(main())
    assert Tree("fail", {}, [], "error ValueError: no", ["exception"]) == recording.tree()


def test_a_cancelled_task_ends_its_span(recording: Recording) -> None:
    """Being cancelled is no error."""

    @ot.traced(name="wait")
    async def wait() -> None:
        await asyncio.sleep(60)

    async def main() -> bool:
        task = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(main())
    assert Tree("wait") == recording.tree()


def test_generators_run_as_they_are() -> None:
    """A generator is not recorded yet, and is what it was."""

    def count() -> Iterator[int]:
        yield 1

    async def acount() -> AsyncIterator[int]:
        yield 1

    assert count is ot.traced(count)
    assert acount is ot.traced(acount)
