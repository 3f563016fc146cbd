"""A captured call against Logfire's decorator, exported likewise: three tensors, and two scalars."""

from collections.abc import Callable
from itertools import count
from typing import Any

from benchmarks.harness import Block, Calls
from benchmarks.result import Bar
from benchmarks.workload import forward, make_stock_processor, make_tensors


def scale(lr: float, epoch: int) -> None:
    """Stand for a function with two scalars."""


def ours_tensors() -> Block:
    """Return calls of ours with three tensors."""
    return trace_ours(forward, make_tensors())


def ours_scalars() -> Block:
    """Return calls of ours with two scalars."""
    return trace_ours(scale, (0.1, 3))


def theirs_tensors() -> Block:
    """Return calls of Logfire's with three tensors."""
    return trace_theirs(forward, make_tensors())


def theirs_scalars() -> Block:
    """Return calls of Logfire's with two scalars."""
    return trace_theirs(scale, (0.1, 3))


def trace_ours(function: Callable[..., None], arguments: tuple[Any, ...]) -> Block:
    """Return calls of a function with our decorator."""
    import otel_trace as ot

    ot.configure()
    call = ot.traced(function)
    numbers = count()

    def run(calls: int) -> None:
        with ot.step(next(numbers)):
            for _ in range(calls):
                call(*arguments)
        ot.flush()

    return run


def trace_theirs(function: Callable[..., None], arguments: tuple[Any, ...]) -> Block:
    """Return calls of a function with Logfire's decorator."""
    import logfire

    logfire.configure(
        send_to_logfire=False,
        console=False,
        additional_span_processors=[make_stock_processor()],
        metrics=False,
    )
    call = logfire.instrument(extract_args=True)(function)

    def run(calls: int) -> None:
        with logfire.span("step"):
            for _ in range(calls):
                call(*arguments)
        logfire.force_flush()

    return run


BENCHMARKS = tuple(
    Calls(
        f"logfire-{kind}",
        __name__,
        Bar("theirs / ours", 20),
        ours=f"ours_{kind}",
        theirs=f"theirs_{kind}",
        is_exported=True,
    )
    for kind in ("tensors", "scalars")
)
