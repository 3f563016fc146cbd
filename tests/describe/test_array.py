from __future__ import annotations

import gc
import math
import weakref
from typing import Any

import pytest

from otel_trace.describe import array
from otel_trace.describe.value import Ladder
from tests.describe.reading import by_type_only, describe

np = pytest.importorskip("numpy")


class HostileArray(np.ndarray):  # type: ignore[name-defined, misc]
    def __array_finalize__(self, other: Any) -> None:
        """Be made."""

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError

    __len__ = __iter__ = __getitem__ = __array_function__ = __array_ufunc__
    shape = dtype = property(__array_ufunc__)


class HostileNumber(np.float32):  # type: ignore[name-defined, misc]
    def __float__(self) -> float:
        raise AssertionError

    def item(self, *args: Any) -> Any:
        raise AssertionError


@pytest.mark.parametrize(
    ("shape", "dtype", "summary"),
    [
        ((8, 16), "float32", "float32[8, 16] cpu"),
        ((0,), "int64", "int64[0] cpu"),
        ((3, 0, 2), "bool", "bool[3, 0, 2] cpu"),
        ((2,), "complex128", "complex128[2] cpu"),
        ((2,), ">i4", ">i4[2] cpu"),
        ((2,), "datetime64[ns]", "datetime64[ns][2] cpu"),
        ((2,), "<U5", "<U5[2] cpu"),
        ((2,), "object", "object[2] cpu"),
        ((1, 2), [("a", "i4"), ("b", "f8")], "[('a', '<i4'), ('b', '<f8')][1, 2] cpu"),
    ],
)
def test_an_array_tells_shape_dtype_and_summary(shape: Any, dtype: Any, summary: str) -> None:
    """An array has the facts of a tensor, on the device cpu."""
    found = describe(np.empty(shape, dtype))
    expected = {
        ".shape": list(shape),
        ".dtype": summary.rpartition("[")[0],
        ".device": "cpu",
        ".summary": summary,
    }
    assert expected == found


def test_an_array_without_dimensions_has_an_empty_summary_and_no_shape() -> None:
    """No empty array is written where a search would look for one."""
    assert {".dtype": "float64", ".device": "cpu", ".summary": "float64[] cpu"} == describe(np.array(1.0))


def test_a_dtype_with_a_thousand_fields_is_cut() -> None:
    """The name of a dtype has a bound."""
    found = describe(np.empty(2, [(f"field{number}", "i4") for number in range(1000)]))
    assert 83 == len(found[".dtype"])
    assert found[".dtype"].endswith("...")


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (True, np.bool_(True)),
        (7, np.int8(7)),
        (2**63 - 1, np.uint64(2**63 - 1)),
        ({".in_words": str(2**64 - 1)}, np.uint64(2**64 - 1)),
        (0.5, np.float16(0.5)),
        (0.25, np.float64(0.25)),
        (0.25, np.longdouble(0.25)),
        ({".in_words": "NaN"}, np.float32(math.nan)),
        ("(1+2j)", np.complex64(1 + 2j)),
        ("(1+2j)", np.complex128(1 + 2j)),
        ("adam", np.str_("adam")),
        (by_type_only(np.timedelta64), np.timedelta64(5, "D")),
        (by_type_only(np.datetime64), np.datetime64("2020-01-01")),
        (by_type_only(np.bytes_), np.bytes_(b"x")),
        (by_type_only(np.void), np.void(b"x")),
        (0.5, HostileNumber(0.5)),
    ],
    ids=range(16),
)
def test_a_scalar_of_numpy_is_a_scalar_of_python(expected: Any, value: Any) -> None:
    """A number of numpy is written as the number it is; dates and bytes are told by their type."""
    found = describe(value)
    assert (type(expected), expected) == (type(found), found)


def test_what_a_subclass_overrides_is_not_called() -> None:
    """Numpy's own descriptors are read, past those of a subclass."""
    value = np.zeros((2, 3), "float32").view(HostileArray)
    assert "float32[2, 3] cpu" == describe(value)[".summary"]
    masked = np.ma.masked_array([1, 2, 3], mask=[0, 1, 0])
    assert "int64[3] cpu" == describe(masked)[".summary"]


def test_shapes_are_told_when_values_are_not() -> None:
    """OTELTRACE_VALUES=none leaves values out, not shapes."""
    assert "float64[2] cpu" == describe(np.zeros(2), "none")[".summary"]
    assert by_type_only(np.float32) == describe(np.float32(0.5), "none")


def test_an_array_is_let_go_and_the_extras_of_its_dtype_too() -> None:
    """Neither the data nor what hangs on a dtype is kept by the facts we share."""

    class Extra:
        pass

    extra = Extra()
    value = np.zeros(3, np.dtype("f4", metadata={"extra": extra}))
    Ladder().describe(value)
    alive = weakref.ref(value), weakref.ref(extra)
    del value, extra
    gc.collect()
    assert (None, None) == (alive[0](), alive[1]())


def test_shapes_that_never_repeat_keep_memory_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of shapes is thrown away when it is too much."""
    monkeypatch.setattr(array, "_MAX_KNOWN", 100)
    array._known.clear()
    for size in range(1000):
        assert [size, 1] == describe(np.empty((size, 1), "bool"))[".shape"]
        assert 100 >= len(array._known)
