"""The call that is traced, and how a user of the plain SDK describes its tensors by hand."""

import os
from collections.abc import Callable
from itertools import count
from typing import Any

from opentelemetry.trace import Span, Tracer

Tensors = tuple[Any, Any, Any]


def make_tensors() -> Tensors:
    """Return three tensors as a training step has them."""
    import torch

    return torch.zeros(8, 16), torch.zeros(16, dtype=torch.bfloat16), torch.zeros(8, dtype=torch.int64)


def forward(x: Any, y: Any, z: Any) -> None:
    """Stand for the user's work: nothing, so that only the tracing is measured."""


def set_nine_attributes(span: Span, x: Any, y: Any, z: Any) -> None:
    """Set shape, dtype and device of three tensors."""
    span.set_attribute("param.x.shape", tuple(x.shape))
    span.set_attribute("param.x.dtype", str(x.dtype))
    span.set_attribute("param.x.device", str(x.device))
    span.set_attribute("param.y.shape", tuple(y.shape))
    span.set_attribute("param.y.dtype", str(y.dtype))
    span.set_attribute("param.y.device", str(y.device))
    span.set_attribute("param.z.shape", tuple(z.shape))
    span.set_attribute("param.z.dtype", str(z.dtype))
    span.set_attribute("param.z.device", str(z.device))


def trace_calls(function: Callable[..., None]) -> Callable[[int], None]:
    """Return blocks of calls of a decorated function with three tensors, which the journal has when they return."""
    import otel_trace as ot

    ot.configure()
    call = ot.traced(function)
    x, y, z = make_tensors()
    numbers = count()

    def run(calls: int) -> None:
        with ot.step(next(numbers)):
            for _ in range(calls):
                call(x, y, z)
        ot.flush()

    return run


def start_stock_export() -> tuple[Tracer, Any]:
    """Set the SDK up as its documentation says: batches over OTLP/HTTP to the benchmark's server."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

    provider = TracerProvider()
    provider.add_span_processor(make_stock_processor())
    trace.set_tracer_provider(provider)
    return trace.get_tracer(__name__), provider


def make_stock_processor() -> Any:
    """Return the SDK's own batch processor and exporter."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    return BatchSpanProcessor(OTLPSpanExporter(os.environ["BENCHMARK_ENDPOINT"]))
