from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

import otel_trace as ot
from tests.capture.recording import Recording, Tree

if TYPE_CHECKING:
    from pathlib import Path


@ot.traced
def load(path: str) -> int:
    """Give the length."""
    return len(path)


@ot.stage("forward")
def forward(x: int) -> int:
    """Be a stage."""
    return load("a" * x)


@ot.span("named")
def named(x: int) -> int:
    """Have another name."""
    return x


LOADED = {"param.path": "aa", "return.value": 2}


def test_a_block_is_a_span_with_the_users_attributes(recording: Recording) -> None:
    """What the user says stands under the user's names."""
    with ot.span("tokenize", batch=3, language="de"):
        load("aa")
    expected = Tree("tokenize", {"batch": 3, "language": "de"}, [Tree("load", LOADED)])
    assert expected == recording.tree()


def test_a_block_tells_where_it_stands(recording: Recording) -> None:
    """The place of a block is its function and the line of its `with`."""
    with ot.span("block"):
        pass
    (span,) = recording.spans()
    line = test_a_block_tells_where_it_stands.__code__.co_firstlineno + 2
    expected = (f"{__name__}.test_a_block_tells_where_it_stands", __file__, line)
    assert expected == tuple(
        span.attributes[f"code.{name}"] for name in ("function.name", "file.path", "line.number")
    )
    assert __name__ == span.scope


def test_a_stage_is_told_by_all_spans_within(recording: Recording) -> None:
    """As a block and as a decorator alike; an inner stage has the word within it, and only there."""
    with ot.stage("data", batch=3):
        load("aa")
        forward(2)
        load("aa")
    load("aa")
    in_data = Tree("load", {"training.stage": "data", **LOADED})
    in_forward = Tree("load", {"training.stage": "forward", **LOADED})
    expected = [
        Tree(
            "data",
            {"training.stage": "data", "batch": 3},
            [
                in_data,
                Tree("forward", {"training.stage": "forward", "param.x": 2, "return.value": 2}, [in_forward]),
                in_data,
            ],
        ),
        Tree("load", LOADED),
    ]
    assert expected == recording.trees()


def test_a_span_around_a_function_has_its_parameters(recording: Recording) -> None:
    """`@span(name)` is a traced function of that name."""
    assert 5 == named(5)
    assert Tree("named", {"param.x": 5, "return.value": 5}) == recording.tree()


def test_a_block_may_be_entered_again(recording: Recording) -> None:
    """One object, used one after the other and within itself, gives a span each time."""
    block = ot.span("again")
    with block, block:
        pass
    with block:
        pass
    assert [Tree("again", {}, [Tree("again")]), Tree("again")] == recording.trees()


def test_an_exception_ends_the_block_and_all_above(recording: Recording) -> None:
    """Each span that the exception leaves has failed; what comes after is not below them."""
    with pytest.raises(ValueError, match=r"^no$"), ot.span("outer"), ot.stage("inner"):
        raise ValueError("no")
    load("aa")
    failed = {"status": "error ValueError: no", "events": ["exception"]}
    inner = Tree("inner", {"training.stage": "inner"}, **failed)  # type: ignore[arg-type]
    assert [Tree("outer", {}, [inner], **failed), Tree("load", LOADED)] == recording.trees()  # type: ignore[arg-type]


def test_names_without_end_keep_memory_bounded(recording: Recording) -> None:
    """A name made anew for each block, as in a loop, is not remembered for ever."""
    from otel_trace.capture import block

    for number in range(1500):
        with ot.span(f"item {number}"):
            pass
    assert block._MAX_SITES >= len(block._sites)
    assert 1500 == len(recording.trees())


@pytest.mark.parametrize("name", ["", "\ud800", "a\0b", "x" * 100_000])
def test_a_name_may_be_anything(recording: Recording, name: str) -> None:
    """A strange name is made valid and bounded, and costs no span."""
    with ot.span(name):
        pass
    assert 2048 >= len(recording.tree().name.encode())


def test_one_block_in_two_threads(recording: Recording) -> None:
    """A block that two threads enter at once ends in each what it began there."""
    block = ot.span("shared")
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        with block:
            inside.set()
            leave.wait(10)
            load("thread")

    thread = threading.Thread(target=work)
    with block:
        thread.start()
        inside.wait(10)
    load("aa")
    leave.set()
    thread.join()
    of_thread = Tree("load", {"param.path": "thread", "return.value": 6})
    assert [Tree("shared"), Tree("shared", {}, [of_thread]), Tree("load", LOADED)] == recording.trees()


def test_nothing_is_recorded_once_it_is_off(tmp_path: Path) -> None:
    """A journal that is not in use any more gets nothing."""
    with Recording(tmp_path / "first") as first, Recording(tmp_path / "second") as second:
        load("aa")
    assert ([], [Tree("load", LOADED)]) == (first.trees(), second.trees())
