from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict
from typing import Any, NamedTuple

import pytest

from tests.describe.reading import by_type_only, describe


class HostileList(list[Any]):
    def __iter__(self) -> Any:
        raise AssertionError

    def __len__(self) -> int:
        raise AssertionError

    def __getitem__(self, index: Any) -> Any:
        raise AssertionError

    def __bool__(self) -> bool:
        raise AssertionError


class HostileTuple(tuple[Any, ...]):
    __slots__ = ()
    __iter__ = HostileList.__iter__
    __len__ = HostileList.__len__
    __getitem__ = HostileList.__getitem__


class HostileDict(dict[Any, Any]):
    __iter__ = HostileList.__iter__
    __len__ = HostileList.__len__
    __getitem__ = HostileList.__getitem__

    def items(self) -> Any:
        raise AssertionError

    keys = values = items


class Size(NamedTuple):
    height: int
    width: int


class Pretender:
    """Says that it is a dict when asked for its class."""

    __class__ = property(HostileList.__len__)


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ({".length": 0}, []),
        ({".length": 0}, ()),
        ({".length": 0}, {}),
        ({".length": 2, ".0": 1, ".1": 0.5}, [1, 0.5]),
        ({".length": 2, ".0": True, ".1.type": "builtins.NoneType"}, (True, None)),
        ({".length": 2, ".lr": 0.1, ".2": 5}, {"lr": 0.1, 2: 5}),
        ({".length": 3}, ["a", "b", "c"]),
        ({".length": 1, ".x.in_words": "NaN"}, {"x": float("nan")}),
        ({".length": 1, ".lr": 1}, OrderedDict(lr=1)),
        ({".length": 2, ".0": 3, ".1": 4}, Size(3, 4)),
    ],
)
def test_a_container_tells_its_length_and_its_first_items(expected: Any, value: Any) -> None:
    """Items are facts below the container, strings among them only part of the count."""
    assert expected == describe(value)


def test_containers_within_containers_are_told_to_a_depth() -> None:
    """Three levels are opened; of the fourth only the length is told."""
    value = {"a": [{"b": [1, 2, 3]}]}
    expected = {".length": 1, ".a.length": 1, ".a.0.length": 1, ".a.0.b.length": 3}
    assert expected == describe(value)


def test_a_large_first_item_takes_nothing_from_its_neighbours() -> None:
    """Outer items are told before inner ones."""
    found = describe([[list(range(100)) for _ in range(100)], 0.5])
    assert 0.5 == found[".1"]
    assert 32 >= len(found)


def test_a_huge_container_is_told_by_its_first_items() -> None:
    """Of a million items eight are looked at."""
    found = describe(dict.fromkeys(range(1_000_000), 1.0))
    assert {".length": 1_000_000, **{f".{number}": 1.0 for number in range(8)}} == found


def test_a_container_within_itself_comes_to_an_end() -> None:
    """A cycle is opened as deep as any other container."""
    value: list[Any] = []
    value.append(value)
    assert {".length": 1, ".0.length": 1, ".0.0.length": 1, ".0.0.0.length": 1} == describe(value)


def test_a_chain_of_a_hundred_thousand_lists_is_no_deeper_for_us() -> None:
    """Depth costs no recursion."""
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    assert {".length": 1, ".0.length": 1, ".0.0.length": 1, ".0.0.0.length": 1} == describe(value)
    while value:  # take it apart by hand: its destructor is recursive
        value = value.pop()


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ({".length": 1, ".0": 1}, HostileList([1])),
        ({".length": 1, ".0": 1}, HostileTuple([1])),
        ({".length": 1, ".a": 1}, HostileDict({"a": 1})),
        ({".length": 1, ".0.length": 1, ".0.a": 1}, [HostileDict({"a": 1})]),
        ({".length": 1, ".0.type": by_type_only(Pretender)[".type"]}, [Pretender()]),
    ],
    ids=["list", "tuple", "dict", "inner", "not a dict"],
)
def test_what_a_subclass_overrides_is_not_called(expected: Any, value: Any) -> None:
    """Only the built-in iteration of the built-in types is used."""
    assert expected == describe(value)


def test_a_default_is_not_made_by_looking() -> None:
    """A defaultdict has the keys it had."""
    value = defaultdict(list, a=[1])
    assert {".length": 1, ".a.length": 1, ".a.0": 1} == describe(value)
    assert ["a"] == list(value)


def test_iterators_are_not_consumed() -> None:
    """What can be walked only once is told by its type."""
    values = [iter([1, 2]), (x for x in (1, 2)), map(int, "12"), zip([1, 2], [3, 4], strict=True)]
    for value in values:
        assert by_type_only(type(value)) == describe(value)
        assert 2 == len(list(value))


@pytest.mark.parametrize(
    ("expected", "key"),
    [
        (".a_b", "a.b"),
        (".shape_", "shape"),
        (".length_", "length"),
        (".in_words_", "in_words"),
        (".?", "\ud800"),
        (".True", True),
        (".-3", -3),
        ("." + "k" * 64, "k" * 1000),
        (None, ""),
        pytest.param(None, 10**5000, id="a number of 5001 digits"),
        (None, (1, 2)),
        pytest.param(None, Pretender(), id="an object"),
        (None, None),
    ],
)
def test_a_key_becomes_one_part_of_a_name(expected: str | None, key: Any) -> None:
    """A key has no dot in it, is not the name of a fact, and is left out when it cannot be a name."""
    assert {".length": 1} | ({expected: 5} if expected else {}) == describe({key: 5})


def test_two_keys_of_one_name_are_told_once() -> None:
    """The first of them is told; a value never stands where other names begin."""
    assert {".length": 3, ".1": 5} == describe({1: 5, "1": [2], "a" * 0: 3})
    assert {".length": 2, ".a_b": 5} == describe({"a.b": 5, "a_b": [1]})


def test_the_recursion_limit_is_of_no_matter() -> None:
    """Near the end of the stack a nested value is still described."""

    def descend(depth: int) -> Any:
        return descend(depth - 1) if depth else describe([[[[1]]]])

    used = len(list(_frames()))
    assert {".length": 1, ".0.length": 1, ".0.0.length": 1, ".0.0.0.length": 1} == descend(
        sys.getrecursionlimit() - used - 30
    )


def _frames() -> Any:
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back  # type: ignore[assignment]
