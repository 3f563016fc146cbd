"""A call whose body sets an attribute on the current span: the fast span has to become a whole one."""

from typing import Any

from opentelemetry import trace

from benchmarks.harness import Block, Calls
from benchmarks.result import Bar
from benchmarks.workload import make_tensors, set_nine_attributes, start_stock_export, trace_calls


def touch(x: Any, y: Any, z: Any) -> None:  # noqa: ARG001 (they are there to be captured)
    """Do what users do with the current span."""
    trace.get_current_span().set_attribute("loss", 0.25)


def ours() -> Block:
    """Return calls of a decorated function."""
    return trace_calls(touch)


def theirs() -> Block:
    """Return calls with a span by hand."""
    tracer, provider = start_stock_export()
    x, y, z = make_tensors()

    def run(calls: int) -> None:
        with tracer.start_as_current_span("step"):
            for _ in range(calls):
                with tracer.start_as_current_span("touch") as span:
                    set_nine_attributes(span, x, y, z)
                    touch(x, y, z)
        provider.force_flush()

    return run


BENCHMARKS = (Calls("touched-call", __name__, Bar("theirs / ours", None), is_exported=True),)
