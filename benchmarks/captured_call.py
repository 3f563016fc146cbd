"""A call with three tensors, exported: ours against a span set by hand with the SDK's own pipeline."""

from benchmarks.harness import Block, Calls
from benchmarks.result import Bar
from benchmarks.workload import forward, make_tensors, set_nine_attributes, start_stock_export, trace_calls


def ours() -> Block:
    """Return calls of a decorated function, which the journal has when they return."""
    return trace_calls(forward)


def theirs() -> Block:
    """Return calls with a span by hand, delivered to the server at the end of the block."""
    tracer, provider = start_stock_export()
    x, y, z = make_tensors()

    def run(calls: int) -> None:
        with tracer.start_as_current_span("step"):
            for _ in range(calls):
                with tracer.start_as_current_span("forward") as span:
                    set_nine_attributes(span, x, y, z)
                    forward(x, y, z)
        provider.force_flush()

    return run


BENCHMARKS = (
    Calls("captured-call", __name__, Bar("theirs / ours", 15), is_exported=True),
    Calls(
        "captured-call-ratio",
        __name__,
        Bar("theirs / ours", 15),
        environment={"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "1"},
        is_exported=True,
    ),
)
