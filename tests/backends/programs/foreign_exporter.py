"""A training program whose author also set up the SDK's own exporters: `... WAY URL...`; it prints its trace's id.

WAY says when the exporters came: after `configure()`, before it with a provider of the author's own, or while spans
were already open.
"""

import contextlib
import sys

import torch
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import otel_trace as ot

way, *urls = sys.argv[1:]
exporters = [BatchSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces")) for url in urls]


def add_exporters() -> None:
    """Add an exporter for each server to whatever provider the process has."""
    provider = trace.get_tracer_provider()
    assert isinstance(provider, TracerProvider)
    for exporter in exporters:
        provider.add_span_processor(exporter)


@ot.traced
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    """Return a tensor, so that the return value has facts too."""
    trace.get_current_span().set_attribute("touched", value=True)
    return x * factor


@ot.traced
def train_step(images: torch.Tensor, labels: torch.Tensor, name: str = "first") -> None:
    """Call a plain span, and a traced function below it."""
    if way == "while-open":
        add_exporters()
    with trace.get_tracer("users.library").start_as_current_span("plain", attributes={"who": "the SDK"}):
        scale(images, 0.5)


@ot.traced
def fail(labels: torch.Tensor) -> None:
    """Leave by an exception."""
    raise ValueError(f"{labels.dim()} dimensions")


if way == "own-provider":
    trace.set_tracer_provider(TracerProvider(resource=Resource.create({"service.name": "own"})))
    add_exporters()
ot.configure()
if way == "after-configure":
    add_exporters()

with ot.step(7), ot.stage("forward"):
    sys.stdout.write(f"{trace.get_current_span().get_span_context().trace_id:032x}\n")
    train_step(torch.zeros(8, 16), torch.zeros(8, dtype=torch.int64))
    with contextlib.suppress(ValueError):
        fail(torch.zeros(8))
for one in exporters:
    one.force_flush()
ot.shutdown()
