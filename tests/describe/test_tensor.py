from __future__ import annotations

import gc
import math
import weakref
from typing import TYPE_CHECKING, Any

import pytest

from otel_trace.describe import tensor
from otel_trace.describe.value import Ladder
from tests.describe.reading import describe

if TYPE_CHECKING:
    from pathlib import Path

torch = pytest.importorskip("torch")
from torch.overrides import TorchFunctionMode  # noqa: E402 (there may be no torch)
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402


class NoOperation(TorchDispatchMode):
    """Fails whatever computes, copies or reads."""

    def __torch_dispatch__(self, func: Any, *args: Any) -> Any:
        raise AssertionError(func)


class NoFunction(TorchFunctionMode):
    """Fails whatever asks torch for anything."""

    def __torch_function__(self, func: Any, *args: Any) -> Any:
        raise AssertionError(func)


class HostileTensor(torch.Tensor):  # type: ignore[name-defined, misc]
    """Objects to being asked anything."""

    @classmethod
    def __torch_function__(cls, func: Any, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError(func)

    def _refuse(self, *args: Any) -> Any:
        raise AssertionError

    shape = dtype = device = property(_refuse)
    __len__ = __iter__ = __repr__ = size = item = _refuse


@pytest.fixture
def torch_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Set the variable that torch's compiler would set and leave behind."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))


def summarize(value: Any) -> str:
    """Give the summary of a tensor."""
    return str(describe(value)[".summary"])


def test_a_tensor_tells_shape_dtype_device_and_summary() -> None:
    """The facts of a tensor, as they stand on the wire."""
    assert {
        ".shape": [8, 16],
        ".dtype": "float32",
        ".device": "cpu",
        ".summary": "float32[8, 16] cpu",
    } == describe(torch.zeros(8, 16))


def test_a_tensor_without_dimensions_has_no_shape() -> None:
    """A loss is `float32[] cpu`: no empty array is written where a search would look for one."""
    assert {".dtype": "float32", ".device": "cpu", ".summary": "float32[] cpu"} == describe(
        torch.tensor(math.nan)
    )


@pytest.mark.parametrize(
    "name", ["bfloat16", "float16", "float64", "int8", "uint8", "bool", "complex64", "float8_e5m2"]
)
def test_a_dtype_is_named_as_torch_names_it(name: str) -> None:
    """`torch.bfloat16` is `bfloat16`."""
    assert f"{name}[2] cpu" == summarize(torch.empty(2, dtype=getattr(torch, name)))


def test_unusual_tensors_are_tensors() -> None:
    """Empty, strange in memory, sparse, without data, made for inference or for a gradient."""
    grad = torch.zeros(2, requires_grad=True)
    with torch.inference_mode():
        inference = torch.zeros(2)
    assert [
        "float32[0, 3] cpu",
        "float32[2, 3] meta",
        "float32[2] cpu",
        "float32[2] cpu",
        "float32[2] cpu",
    ] == [
        summarize(torch.zeros(0, 3)),
        summarize(torch.zeros(2, 3, device="meta")),
        summarize(grad),
        summarize(grad * 2),
        summarize(inference),
    ]
    assert "float32[3, 3] cpu" == summarize(torch.eye(3).to_sparse())
    assert "float32[5, 4] cpu" == summarize(torch.zeros(4).expand(5, 4))
    assert "int32[2] cpu" == summarize(
        torch.nn.Parameter(torch.zeros(2, dtype=torch.int32), requires_grad=False)
    )
    assert "float32[3] cpu" == summarize(
        torch.func.vmap(lambda row: describe(row) and row)(torch.zeros(2, 3))[0]
    )


def test_a_nested_tensor_has_no_shape(torch_cache: None) -> None:
    """What torch has no sizes for is told without."""
    rows = [torch.zeros(2, 3), torch.zeros(4, 3)]
    with pytest.warns(UserWarning, match="prototype"):
        nested = torch.nested.nested_tensor(rows)
    assert {".dtype": "float32", ".device": "cpu", ".summary": "float32[?] cpu"} == describe(nested)
    jagged = describe(torch.nested.nested_tensor(rows, layout=torch.jagged))
    assert [2, -1, 3] == jagged[".shape"]
    assert jagged[".summary"].startswith("float32[2, j")


def test_a_size_that_is_a_symbol_stays_one(torch_cache: None) -> None:
    """Under a trace with symbols no size is decided by our looking at it."""
    from torch.fx.experimental.proxy_tensor import make_fx

    found = []

    def look(value: Any) -> Any:
        found.append(describe(value))
        return value + 1

    graph = make_fx(look, tracing_mode="symbolic")(torch.zeros(5, 3))
    assert [[-1, -1]] == [facts[".shape"] for facts in found]
    assert [] == getattr(graph.shape_env, "guards", None)


def test_what_a_subclass_overrides_is_not_called() -> None:
    """Torch's own attributes are read, past those of a subclass."""
    value = torch.Tensor._make_subclass(HostileTensor, torch.zeros(2, 3))
    assert {
        ".shape": [2, 3],
        ".dtype": "float32",
        ".device": "cpu",
        ".summary": "float32[2, 3] cpu",
    } == describe(value)
    assert "float32[2, 3] cpu" == describe([value])[".0.summary"]


def test_an_uninitialized_parameter_is_described() -> None:
    """A lazy module's parameter, whose shape raises, has none yet."""
    assert summarize(torch.nn.UninitializedParameter()).startswith("float32[")


def test_describing_runs_no_operation_of_torch() -> None:
    """Nothing is computed, copied or read from a device: not even a scalar's value."""
    values = [
        torch.zeros(2),
        torch.tensor(0.5),
        torch.nn.Parameter(torch.zeros(2)),
        torch.zeros(2, device="meta"),
    ]
    with NoOperation():  # type: ignore[no-untyped-call]
        for value in values:
            summarize(value)
            summarize({"x": [value]}["x"][0])


def test_a_function_mode_of_the_users_breaks_nothing() -> None:
    """A mode that refuses to tell a new tensor's shape is passed by."""
    value = torch.zeros(3, 1, 4, 1, 5)
    with NoFunction():
        found = Ladder().describe(value)
    assert "float32[3, 1, 4, 1, 5] cpu" == found.data[".summary"]


def test_a_tensor_is_left_as_it_was_and_let_go() -> None:
    """The version counter does not move, no gradient appears, and nothing holds the tensor."""
    ladder = Ladder()
    value = torch.zeros(4, requires_grad=True)
    before = value._version, value.grad_fn, value.data_ptr()
    ladder.describe(value)
    ladder.describe({"x": [value]})
    assert before == (value._version, value.grad_fn, value.data_ptr())
    alive = weakref.ref(value)
    del value
    gc.collect()
    assert alive() is None


def test_equal_facts_are_one_object() -> None:
    """Tensors of one shape, dtype and device share their facts, so that the journal writes them once."""
    ladder = Ladder()
    assert ladder.describe(torch.zeros(2, 7)) is ladder.describe(torch.ones(2, 7))
    assert ladder.describe(torch.zeros(2, 7)) is ladder.describe(torch.nn.Parameter(torch.ones(2, 7)))
    assert ladder.describe(torch.zeros(2, 7)) is not ladder.describe(torch.zeros(7, 2))


def test_shapes_that_never_repeat_keep_memory_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of shapes is thrown away when it is too much."""
    monkeypatch.setattr(tensor, "_MAX_KNOWN", 100)
    tensor._known.clear()
    for size in range(1000):
        assert [size, 1] == describe(torch.empty(size, 1, device="meta"))[".shape"]
        assert 100 >= len(tensor._known)
