from __future__ import annotations

import datetime as dt
import gc
import sys
import weakref
from types import ModuleType
from typing import Any

import pytest

from otel_trace.describe.kind import describe_kind, name_kind
from otel_trace.describe.value import Ladder
from tests.describe.reading import by_type_only, describe


class Hostile:
    """Objects to everything one can do with an object."""

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError

    __repr__ = __str__ = __format__ = __len__ = __iter__ = __bool__ = _refuse
    __getattr__ = __getattribute__ = __hash__ = __eq__ = __call__ = __int__ = __float__ = _refuse
    __index__ = __enter__ = __array__ = __fspath__ = __otel_describe__ = _refuse


class Unhashable(type):
    """A metaclass with an equality of its own, and so without a hash."""

    def __eq__(cls, other: object) -> bool:
        raise AssertionError

    __hash__ = None  # type: ignore[assignment]


class Refusing(type):
    """A metaclass that objects to whatever is done with its classes."""

    def _refuse(cls, *args: Any) -> Any:
        raise AssertionError

    __hash__ = __eq__ = __repr__ = __getattribute__ = __subclasscheck__ = __instancecheck__ = _refuse


class OfUnhashable(metaclass=Unhashable):
    pass


class OfRefusing(metaclass=Refusing):
    pass


class ListOfRefusing(list[Any], metaclass=Refusing):
    pass


def make_class(**namespace: Any) -> type:
    """Make a class that no module holds."""
    return type("Made", (), {"__module__": "elsewhere", **namespace})


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("datetime.date", dt.date(2020, 1, 1)),
        ("builtins.object", object()),
        ("builtins.function", make_class),
        ("builtins.type", int),
        ("tests.describe.test_kind.Hostile", Hostile()),
        ("tests.describe.test_kind.OfUnhashable", OfUnhashable()),
        ("tests.describe.test_kind.OfRefusing", OfRefusing()),
        ("tests.describe.test_kind.Refusing", OfRefusing),
        ("elsewhere.Made", make_class()()),
    ],
    ids=range(9),
)
def test_what_nobody_knows_is_told_by_its_type(expected: str, value: Any) -> None:
    """The name of the real type is all that is asked, whatever the object thinks of it."""
    assert {".type": expected} == describe(value)
    assert {".length": 1, ".0.type": expected} == describe([value])


def test_a_list_of_a_strange_type_is_still_a_list() -> None:
    """A metaclass of the user's is not asked which bases its class has."""
    value = ListOfRefusing()
    value.append(1)
    assert {".length": 1, ".0": 1} == describe(value)


def test_a_description_by_type_is_shared_where_the_type_lasts() -> None:
    """Equal facts of a module's own class are one object; those of a passing class are not kept."""
    assert describe_kind(object()) is describe_kind(object())
    assert describe_kind(None) is describe_kind(None)
    assert isinstance(describe_kind(make_class()()), dict)


class Text(str):
    """A string that objects to being used as one."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        raise AssertionError

    __str__ = __repr__ = __hash__ = __eq__ = __format__  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("expected", "module", "name"),
    [
        ("made", Text("m"), "made"),
        ("m.made", "m", Text("made")),
        ("made", 5, "made"),
        ("made", None, "made"),
        ("m.?", "m", "\ud800"),
        ("m." + "x" * 198 + "...", "m", "x" * 100_000),
    ],
    ids=range(6),
)
def test_a_type_may_be_named_in_any_way(expected: str, module: Any, name: str) -> None:
    """A name is bounded, valid UTF-8, and without the module where that is no plain text."""
    kind = make_class(__module__=module)
    kind.__qualname__ = name
    assert expected == name_kind(kind)
    assert {".type": expected} == describe(kind())


def test_a_type_may_have_no_module() -> None:
    """A class made where there is no module has its own name alone."""
    kind = eval("type('Made', (), {})", {})
    assert {".type": "Made"} == describe(kind())


def test_a_module_may_be_an_object_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in sys.modules is not asked for attributes unless it is a module."""
    monkeypatch.setitem(sys.modules, "elsewhere", Hostile())
    assert {".type": "elsewhere.Made"} == describe(make_class()())


def test_a_module_may_have_attributes_of_its_own_making(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lazy module's `__getattr__` is not called."""
    module = ModuleType("elsewhere")
    vars(module)["__getattr__"] = Hostile._refuse
    monkeypatch.setitem(sys.modules, "elsewhere", module)
    assert {".type": "elsewhere.Made"} == describe(make_class()())


def test_values_and_passing_classes_are_let_go() -> None:
    """After its description neither a value nor a class made on the way is alive."""
    ladder = Ladder()
    kinds = [type("Made", bases, {}) for bases in ((), (list,), (dict,), (int,), (str,))]
    values = [kind() for kind in kinds]
    for value in values:
        ladder.describe(value)
        ladder.describe([value])
        describe_kind(value)
    alive = [weakref.ref(kind) for kind in kinds]
    del kinds, values, value
    gc.collect()
    assert [None] * 5 == [ref() for ref in alive]


def test_types_that_last_are_learnt_once_and_others_never() -> None:
    """A ladder remembers what a module holds, and does not grow with classes made on the way."""
    ladder = Ladder()
    ladder.describe(dt.date(2020, 1, 1))
    ladder.describe(OfUnhashable())
    learnt = dict(ladder.by_type)
    for _ in range(100):
        ladder.describe(make_class()())
    assert dt.date in learnt
    assert learnt == ladder.by_type


def test_the_type_of_an_object_of_ours_is_told_like_any_other() -> None:
    """What the tests compare with is what `describe` says."""
    assert by_type_only(Ladder) == describe(Ladder())
