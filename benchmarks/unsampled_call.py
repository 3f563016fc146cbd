"""A call in a step that is not sampled: ours against a span of the SDK that does not record."""

from itertools import count

from benchmarks.harness import Block, Calls
from benchmarks.result import Bar
from benchmarks.workload import forward, make_tensors, set_nine_attributes


def ours() -> Block:
    """Return calls of a decorated function."""
    import otel_trace as ot

    ot.configure()
    call = ot.traced(forward)
    x, y, z = make_tensors()
    numbers = count()

    def run(calls: int) -> None:
        with ot.step(next(numbers)):
            for _ in range(calls):
                call(x, y, z)

    return run


def theirs() -> Block:
    """Return calls as the SDK's documentation writes them."""
    from opentelemetry.sdk.trace import TracerProvider

    tracer = TracerProvider().get_tracer(__name__)
    x, y, z = make_tensors()

    def run(calls: int) -> None:
        with tracer.start_as_current_span("step"):
            for _ in range(calls):
                with tracer.start_as_current_span("forward") as span:
                    if span.is_recording():
                        set_nine_attributes(span, x, y, z)
                    forward(x, y, z)

    return run


BENCHMARKS = tuple(
    Calls(
        f"unsampled-call-{name}",
        __name__,
        Bar("theirs / ours", 8),
        environment={"OTEL_TRACES_SAMPLER": sampler, "OTEL_TRACES_SAMPLER_ARG": "0"},
        times=10,
    )
    for name, sampler in (("off", "always_off"), ("ratio", "parentbased_traceidratio"))
)
