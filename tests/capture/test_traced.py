from __future__ import annotations

import inspect
import pickle
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import otel_trace as ot
from tests.capture.recording import Tree, call

if TYPE_CHECKING:
    from tests.capture.recording import Recording


def plain(a: int, /, b: int = 2, *more: int, c: int = 3, **kw: int) -> int:
    """Add."""
    return a + b + sum(more) + c + sum(kw.values())


traced_plain = ot.traced(plain)
NAMED = ot.traced(name="add")(plain)


@ot.traced
def load(path: str) -> int:
    """Load."""
    return len(path)


class Model:
    """Methods of every kind."""

    @ot.traced
    def forward(self, x: int) -> int:
        return x

    @classmethod
    @ot.traced
    def make(cls, x: int) -> int:
        return x

    @staticmethod
    @ot.traced
    def check(x: int) -> int:
        return x

    @property
    @ot.traced
    def size(self) -> int:
        return 4

    @ot.traced
    def __call__(self, x: int) -> int:
        return x


def test_a_call_is_a_span_with_parameters_and_result(recording: Recording) -> None:
    """A call gives one span, named like the function."""
    assert 8 == load("data.bin")
    assert Tree("load", {"param.path": "data.bin", "return.value": 8}) == recording.tree()


def test_a_span_tells_where_its_function_stands(recording: Recording) -> None:
    """Module, qualified name, file and line of the function, and its module as scope."""
    Model().forward(1)
    (span,) = recording.spans()
    code = Model.forward.__wrapped__.__code__  # type: ignore[attr-defined]
    expected = {
        "code.function.name": f"{__name__}.Model.forward",
        "code.file.path": __file__,
        "code.line.number": code.co_firstlineno,
    }
    assert expected == {key: value for key, value in span.attributes.items() if key.startswith("code.")}
    assert ("Model.forward", __name__) == (span.name, span.scope)


@pytest.mark.parametrize(
    ("expected", "args", "kwargs"),
    [
        ({"a": 1, "b": 2, "c": 3}, (1,), {}),
        ({"a": 1, "b": 5, "c": 3}, (1, 5), {}),
        ({"a": 1, "b": 5, "c": 6}, (1,), {"c": 6, "b": 5}),
        ({"a": 1, "b": 5, "c": 3, "more.0": 7, "more.1": 8}, (1, 5, 7, 8), {}),
        ({"a": 1, "b": 2, "c": 3, "lr": 9}, (1,), {"lr": 9}),
        ({"a": 1, "b": 2, "c": 3}, (1,), {"a": 9}),
    ],
)
def test_parameters_have_their_own_names_however_they_are_given(
    recording: Recording, expected: dict[str, int], args: tuple[int, ...], kwargs: dict[str, int]
) -> None:
    """Defaults are told, `*args` by their number, `**kw` by their key."""
    result = plain(*args, **kwargs)
    assert result == traced_plain(*args, **kwargs)
    attributes = {**{f"param.{name}": value for name, value in expected.items()}, "return.value": result}
    assert Tree("plain", attributes) == recording.tree()


def test_of_many_arguments_the_first_are_told(recording: Recording) -> None:
    """A thousand positional arguments are eight attributes."""
    traced_plain(*range(1000))
    assert 8 == sum(name.startswith("param.more.") for name in recording.tree().attributes)


def test_methods_of_every_kind_are_functions(recording: Recording) -> None:
    """`self` and `cls` are not parameters; class and static methods, properties and `__call__` work."""
    model = Model()
    assert [1, 2, 2, 3, 3, 4, 5] == [
        model.forward(1),
        model.make(2),
        Model.make(2),
        model.check(3),
        Model.check(3),
        model.size,
        model(5),
    ]
    one = {"param.x": 2, "return.value": 2}
    assert [
        Tree("Model.forward", {"param.x": 1, "return.value": 1}),
        Tree("Model.make", one),
        Tree("Model.make", one),
        Tree("Model.check", {"param.x": 3, "return.value": 3}),
        Tree("Model.check", {"param.x": 3, "return.value": 3}),
        Tree("Model.size", {"return.value": 4}),
        Tree("Model.__call__", {"param.x": 5, "return.value": 5}),
    ] == recording.trees()


def test_calls_within_calls_are_children(recording: Recording) -> None:
    """A recursive function gives a span for each call, one below the other."""

    @ot.traced(name="down")
    def down(n: int) -> int:
        return n and down(n - 1)

    down(2)
    inner = Tree("down", {"param.n": 0, "return.value": 0})
    middle = Tree("down", {"param.n": 1, "return.value": 0}, [inner])
    assert Tree("down", {"param.n": 2, "return.value": 0}, [middle]) == recording.tree()


def test_threads_have_traces_of_their_own(recording: Recording) -> None:
    """What another thread does is not below what this one does, and nothing is mixed up."""

    def work(number: int) -> None:
        for _ in range(50):
            with ot.span(f"thread {number}"):
                load(str(number))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    with ot.span("main"):
        for thread in threads:
            thread.join()
    found = recording.trees()
    assert [Tree("main")] == [tree for tree in found if tree.name == "main"]
    for number in range(4):
        child = Tree("load", {"param.path": str(number), "return.value": 1})
        own = [tree for tree in found if tree.name == f"thread {number}"]
        assert [Tree(f"thread {number}", {}, [child])] * 50 == own
    assert 201 == len(found)


def test_a_function_looks_as_it_did() -> None:
    """Name, docstring, signature, annotations and module are the function's own."""
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__"):
        assert getattr(plain, name) == getattr(traced_plain, name) == getattr(NAMED, name)
    assert inspect.signature(plain) == inspect.signature(traced_plain)
    assert plain is inspect.unwrap(traced_plain)


def test_a_function_is_pickled_by_its_name(recording: Recording) -> None:
    """A decorated function, and a bound method, come back as themselves."""
    assert load is pickle.loads(pickle.dumps(load))
    assert 5 == pickle.loads(pickle.dumps(Model().forward))(5)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((1,), {"b": 2, "path": 3}), ((1, 2), {}), ((), {"nope": 1}), ((1,), {"path": 1})],
)
def test_a_wrong_call_raises_pythons_own_error(
    recording: Recording, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """The message is the one that the bare function gives, and the span has failed."""
    bare = call(load.__wrapped__, *args, **kwargs)  # type: ignore[attr-defined]
    ours = call(load, *args, **kwargs)
    assert (TypeError, str(bare)) == (type(ours), str(ours))
    tree = recording.tree()
    assert ("load", f"error TypeError: {bare}", ["exception"]) == (tree.name, tree.status, tree.events)


def test_objects_that_can_be_called_are_functions(recording: Recording) -> None:
    """A partial, a lambda, a built-in and an instance give spans too."""

    class Adder:
        def __call__(self, x: int) -> int:
            return x + 1

    assert [3, 4, 3, 2] == [
        ot.traced(partial(pow, 3))(1),
        ot.traced(lambda x: x + 1)(3),
        ot.traced(len)([1, 2, 3]),
        ot.traced(name="adder")(Adder())(1),
    ]
    names = [tree.name for tree in recording.trees()]
    assert "partial" == names[0]
    assert ["<lambda>", "len", "adder"] == [name.rpartition(".")[2] for name in names[1:]]
