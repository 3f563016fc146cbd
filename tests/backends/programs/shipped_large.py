"""A training program with so many spans of 10 KB and one of 100 MB: `... NUMBER`; it prints whether all arrived."""

import sys

from opentelemetry import trace

import otel_trace as ot

ot.configure()
for number in range(int(sys.argv[1])):
    with ot.span(f"large {number}"):
        for name in range(6):
            trace.get_current_span().set_attribute(f"text.{name}", "x" * 1800)
with ot.span("huge"):
    trace.get_current_span().set_attribute("text", "x" * 100_000_000)
sys.stdout.write(f"{ot.flush(60)}\n")
