"""What users should not do, and do: nothing of theirs is harmed by it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

import otel_trace as ot
from tests.capture.recording import call, record_program

if TYPE_CHECKING:
    from pathlib import Path

    from tests.capture.recording import Recording, Tree


class Hostile:
    """Objects to being put into words, hashed or compared."""

    def _refuse(self, *args: Any) -> Any:
        raise AssertionError

    __format__ = __str__ = __repr__ = __hash__ = __eq__ = __bool__ = __len__ = _refuse


class Refusing(type):
    """A metaclass that objects to whatever is done with its classes."""

    def _refuse(cls, *args: Any) -> Any:
        raise AssertionError

    __hash__ = __eq__ = __repr__ = __getattribute__ = _refuse


class OfRefusing(metaclass=Refusing):
    pass


class PropertiesRaise(Exception):
    """An exception whose own attributes raise."""

    def _refuse(self) -> Any:
        raise AssertionError

    args = __cause__ = __context__ = __traceback__ = __class__ = property(_refuse)


class TypeRaises(Exception, metaclass=Refusing):
    """An exception whose class cannot be asked for its name."""


@ot.traced
def take(x: Any = 0, *args: Any, **kw: Any) -> None:
    """Take anything."""


@ot.traced
def fail(make: Any) -> None:
    """Raise what is made."""
    raise make()


class Model:
    @ot.traced
    def forward(self, x: int) -> int:
        return x


def list_broken_names(tree: Tree) -> list[str]:
    """List names that stand for a value and begin others, or are too long, or end with nothing."""
    names = list(tree.attributes)
    return [
        name
        for name in names
        if any(other.startswith(f"{name}.") for other in names)
        or len(name.encode()) > 256
        or name[-1:] in {"", "."}
    ]


@pytest.mark.parametrize(
    "value",
    [Hostile(), OfRefusing(), [Hostile()], {"a": OfRefusing()}, "x" * 10**7, "\ud800\0"],
    ids=range(6),
)
def test_any_value_may_be_passed_and_returned(recording: Recording, value: Any) -> None:
    """As argument, keyword, attribute of a block, and return value: one span each, and the call is made."""
    give = ot.traced(name="give")(lambda: value)
    take(value)
    take(x=value)
    take(1, value, key=value)
    with ot.span("block", value=value):
        pass
    assert value is give()
    assert ["take", "take", "take", "block", "give"] == [tree.name for tree in recording.trees()]


@pytest.mark.parametrize(
    ("args", "kw"),
    [
        ((), {"\ud800": 1}),
        ((), {"a\0b": 1}),
        ((1, 2), {"args": 3}),
        ((4,), {"x.length": 3}),
        ((), {"": 1}),
        ((), {"k" * 10**5: 1}),
    ],
    ids=range(6),
)
def test_any_keyword_may_be_passed(recording: Recording, args: Any, kw: Any) -> None:
    """A keyword that is no Python name makes no attribute that a backend cannot hold."""
    call(take, *args, **kw)
    assert [] == list_broken_names(recording.tree())


def test_a_thousand_keywords_are_a_bounded_number_of_attributes(recording: Recording) -> None:
    """A span has at most 128 attributes."""
    take(**{f"key{number}": number for number in range(1000)})
    assert 128 >= len(recording.tree().attributes)


def test_self_by_keyword_is_not_captured(recording: Recording) -> None:
    """The instance is never a parameter, however it is passed."""
    Model.forward(self=Model(), x=1)
    assert {"param.x": 1, "return.value": 1} == recording.tree().attributes


@pytest.mark.parametrize("error", [[PropertiesRaise], [TypeRaises]], ids=["properties", "type"])
def test_any_exception_may_be_raised(recording: Recording, error: Any) -> None:
    """The user's exception comes out, and its span has ended."""
    caught = call(fail, *error)
    assert error[0] is type(caught)
    assert ["exception"] == recording.tree().events


@pytest.mark.parametrize("block", [ot.span, ot.stage])
def test_a_block_with_a_hostile_name_is_entered(recording: Recording, block: Any) -> None:
    """A name that is no text is told by its type; nothing is asked of it."""
    with block(Hostile()):
        take()
    (tree,) = recording.trees()
    assert (f"{__name__}.Hostile", ["take"]) == (tree.name, [child.name for child in tree.children])


@pytest.mark.parametrize(
    ("expected", "number", "name"),
    [
        ({"training.step": 1, "training.loop": "train"}, 1.5, "train"),
        ({"training.step": 1, "training.loop": "builtins.int"}, 1, 5),
        ({"training.loop": "train"}, 2**70, "train"),
    ],
)
def test_a_name_has_one_type(recording: Recording, expected: dict[str, Any], number: Any, name: Any) -> None:
    """A step is a number and a loop a text, or they are left out."""
    with ot.step(number, name=name):
        pass
    found = recording.tree().attributes
    assert expected == {key: value for key, value in found.items() if key.startswith("training.")}


def test_decorators_may_stand_in_either_order(recording: Recording) -> None:
    """Above `@staticmethod` and `@classmethod` as well as below."""

    class Tools:
        @ot.traced
        @staticmethod
        def check(x: int) -> int:
            return x

        @ot.traced
        @classmethod
        def make(cls, x: int) -> int:
            return x

    assert [1, 2] == [Tools().check(1), Tools().make(2)]


def test_a_wrong_call_of_a_coroutine_function_is_told(recording: Recording) -> None:
    """The mistake is told as Python tells it, when the call is awaited."""

    @ot.traced
    async def fetch(path: str) -> int:
        return len(path)

    wrong: Any = fetch
    with pytest.raises(TypeError, match=r"fetch\(\) missing 1 required positional argument: 'path'"):
        asyncio.run(wrong())
    assert 1 == asyncio.run(fetch("a"))


AT_ONCE = """
import threading
import otel_trace as ot

@ot.traced
def take(x):
    return x

barrier = threading.Barrier(8)

def work():
    barrier.wait()
    for number in range(100):
        take(number)

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_that_begin_at_once_lose_nothing(tmp_path: Path) -> None:
    """The first spans of many threads are all there, in one run."""
    spans = record_program(tmp_path / "at_once", AT_ONCE)
    assert 800 == len(spans)
    assert 1 == len({span.process.key for span in spans})
