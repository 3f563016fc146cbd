from __future__ import annotations

import gc
import random
import sys
import weakref
from typing import TYPE_CHECKING, Any

import pytest

import otel_trace as ot
from otel_trace import _guard
from tests.capture.recording import Recording, Tree, record_program

if TYPE_CHECKING:
    from pathlib import Path


class Value:
    """Something one can point to weakly."""


@ot.traced
def take(value: Any) -> Any:
    """Give it back."""
    return value


@ot.traced
def fail(value: Any) -> None:
    """Fail with it."""
    raise ValueError


@ot.traced
async def take_later(value: Any) -> Any:
    """Give it back later."""
    return value


def use(value: Any) -> None:
    """Hand a value to everything that records."""
    take(value)
    take([value])
    with ot.step(0), ot.span("block", value=value), ot.stage("stage", value=value):
        take(value=value)
    with pytest.raises(ValueError, match=r"^$"):
        fail(value)
    with pytest.raises(StopIteration):
        take_later(value).send(None)


def test_no_argument_is_kept(recording: Recording) -> None:
    """After the calls nothing of ours holds what was passed in or returned."""
    value = Value()
    alive = weakref.ref(value)
    use(value)
    del value
    gc.collect()
    assert alive() is None


def test_no_tensor_is_kept(recording: Recording) -> None:
    """A tensor is gone as soon as the user lets it go, without the garbage collector."""
    torch = pytest.importorskip("torch")
    value = torch.zeros(8, requires_grad=True) * 2
    alive = weakref.ref(value)
    version = value._version
    gc.disable()
    try:
        with ot.span("outer"):
            take(value)
            take([value])
            assert version == value._version
            del value
            assert alive() is None
    finally:
        gc.enable()


def test_an_exception_is_not_kept(recording: Recording) -> None:
    """Neither the exception nor the frames in its traceback outlive the user's interest."""
    value = Value()
    alive = weakref.ref(value)
    try:
        fail(value)
    except ValueError:
        del value
    gc.collect()
    assert alive() is None


RANDOM = """
import random
before = random.getstate()
import otel_trace as ot
assert random.getstate() == before
ot.configure()
assert random.getstate() == before

@ot.traced
def load(x):
    return x

for number in range(1000):
    with ot.step(number), ot.stage("data"):
        load(number)
assert random.getstate() == before
import os
if not (pid := os.fork()):
    before = random.getstate()  # Python itself has seeded it anew
    load(5)
    assert random.getstate() == before
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
ot.flush()
ot.shutdown()
assert random.getstate() == before
"""


def test_the_users_random_numbers_are_not_touched(tmp_path: Path) -> None:
    """Import, configure, a thousand steps, a fork and the end leave `random` where it was."""
    spans = record_program(tmp_path / "random", RANDOM)
    assert 3001 == len(spans)
    assert 3001 == len({span.span_id for span in spans})


def test_recording_in_this_process_leaves_random_alone(recording: Recording) -> None:
    """The state is the same to the bit."""
    before = random.getstate()
    for number in range(1000):
        take(number)
    assert before == random.getstate()


def test_the_garbage_collector_has_nothing_to_do_for_us(recording: Recording) -> None:
    """A call leaves no cycle behind."""
    take(Value())
    gc.collect()
    gc.disable()
    try:
        for _ in range(10):
            take(Value())
            with ot.span("block"):
                pass
        assert 0 == gc.collect()
    finally:
        gc.enable()


def test_a_failure_of_ours_costs_only_the_span(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """When recording fails the call is made, once, and its result comes back."""
    monkeypatch.setenv("OTELTRACE_STRICT", "0")
    monkeypatch.setattr(
        _guard, "_told", {f"the span of {name}" for name in ("take", "fail")} | {"the span block"}
    )
    monkeypatch.setattr(recording.provider, "sampler", None)
    monkeypatch.setattr(recording.writer, "start", None)
    assert 5 == take(5)
    with ot.span("block"):
        pass
    with pytest.raises(ValueError, match=r"^$"):
        fail(5)


def test_strict_raises_a_failure_of_ours(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests of this package would see it."""
    monkeypatch.setattr(recording.writer, "start", None)
    with pytest.raises(TypeError, match="not callable"):
        take(5)


def test_disabled_gives_the_function_itself(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """With OTEL_SDK_DISABLED a decorator costs nothing at all, and a block records nothing."""
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")

    def function(x: int) -> int:
        return x

    async def coroutine(x: int) -> int:
        return x

    for decorate in (ot.traced, ot.traced(name="x"), ot.stage("x"), ot.span("x")):
        assert function is decorate(function)
        assert coroutine is decorate(coroutine)


DISABLED = """
import sys
import otel_trace as ot
ot.configure()
with ot.step(1), ot.stage("data"), ot.span("x", y=1):
    assert ot.traced(len)("abc") == 3
ot.flush()
ot.shutdown()
assert "opentelemetry.sdk" not in sys.modules
"""


def test_disabled_writes_and_loads_nothing(tmp_path: Path) -> None:
    """No folder is made, and the SDK is not even loaded."""
    (tmp_path / "off" / "journal").mkdir(parents=True)
    assert [] == record_program(tmp_path / "off", DISABLED, environ={"OTEL_SDK_DISABLED": "true"})


def test_a_profiler_and_a_tracer_of_the_users_are_left_alone(recording: Recording) -> None:
    """What the user has set with `sys.settrace` and `sys.setprofile` is still set."""

    def look(*args: Any) -> None:
        return None

    before = sys.gettrace(), sys.getprofile()
    sys.setprofile(look)
    try:
        take(5)
        assert look is sys.getprofile()
    finally:
        sys.setprofile(before[1])
    assert before == (sys.gettrace(), sys.getprofile())
    assert Tree("take", {"param.value": 5, "return.value": 5}) == recording.tree()
