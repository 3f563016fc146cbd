"""Bytes per span with three tensors: a whole journal against the OTLP protobuf of the same spans."""

from collections.abc import Iterator
from dataclasses import dataclass

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, TraceFlags

from benchmarks.harness import Effort, Side
from benchmarks.result import Bar, Row
from otel_trace.view import Span, open_run

# What the SDK's batch processor puts into one request.
BATCH = 512


@dataclass(frozen=True)
class DiskSize:
    """A benchmark of bytes: the files that a process leaves, and what they hold as protobuf."""

    name: str
    bar: Bar

    def measure(self, effort: Effort) -> Row:
        """Write a journal, read it back, and encode what it holds; the size does not vary."""
        with Side("benchmarks.captured_call", "ours", {}) as side:
            for _ in range(10):
                side.run(effort.calls)
            folder = side.end()
            num_bytes = sum(path.stat().st_size for path in folder.rglob("*.seg"))
            spans = [span for trace in open_run(folder).traces for span in trace.spans]
        batches = [spans[first : first + BATCH] for first in range(0, len(spans), BATCH)]
        encoded = sum(len(encode_spans(list(make_stock(batch))).SerializeToString()) for batch in batches)
        example = next(span for span in spans if span.name.endswith("forward"))
        return Row(
            name=self.name,
            unit="bytes/span",
            ours=[num_bytes / len(spans)],
            theirs=[encoded / len(spans)],
            bar=self.bar,
            note=f"{len(spans):,} spans; attributes of one: {', '.join(sorted(example.attributes))}",
            is_valid=len(spans) >= side.num_calls,
        )


def make_stock(spans: list[Span]) -> Iterator[ReadableSpan]:
    """Yield the same spans as the SDK would hand them to its exporter."""
    resources = {span.process.key: Resource(span.resource) for span in spans}
    scopes = {span.scope: InstrumentationScope(span.scope, span.scope_version) for span in spans}
    for span in spans:
        yield ReadableSpan(
            name=span.name,
            context=make_context(span.trace_id, span.span_id),
            parent=make_context(span.trace_id, span.parent_id) if span.parent_id else None,
            resource=resources[span.process.key],
            attributes=span.attributes,
            start_time=span.start_ns,
            end_time=span.end_ns,
            instrumentation_scope=scopes[span.scope],
        )


def make_context(trace_id: str, span_id: str) -> SpanContext:
    """Return a sampled context of hex ids."""
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=TraceFlags(1))


BENCHMARKS = (DiskSize("disk-size", Bar("ours / theirs", 0.5)),)
