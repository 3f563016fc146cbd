"""A decorated call with `OTEL_SDK_DISABLED=true` against the bare call."""

from collections.abc import Callable
from typing import Any

from benchmarks.harness import Block, Calls
from benchmarks.result import Bar
from benchmarks.workload import forward, make_tensors


def ours() -> Block:
    """Return calls of a decorated function."""
    import otel_trace as ot

    ot.configure()
    return repeat(ot.traced(forward))


def theirs() -> Block:
    """Return bare calls."""
    return repeat(forward)


def repeat(call: Callable[[Any, Any, Any], None]) -> Block:
    """Return a loop over calls."""
    x, y, z = make_tensors()

    def run(calls: int) -> None:
        for _ in range(calls):
            call(x, y, z)

    return run


BENCHMARKS = (
    Calls(
        "disabled-call",
        __name__,
        Bar("ours - theirs", 0.15),
        environment={"OTEL_SDK_DISABLED": "true"},
        times=200,
    ),
)
