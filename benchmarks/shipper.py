"""Spans per CPU second: the shipper from the journal to the acknowledgement, against the SDK's encode and send."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.disk_size import BATCH, make_stock
from benchmarks.harness import Effort, Side
from benchmarks.receiver import Receiver, run_receiver
from benchmarks.result import Bar, Row
from otel_trace.view import Span, open_run


@dataclass(frozen=True)
class Throughput:
    """A benchmark of sending: CPU microseconds per span of the process that sends, on both sides."""

    name: str
    bar: Bar

    def measure(self, effort: Effort) -> Row:
        """Write one journal; let both sides send it in turns, to the same server."""
        rounds = max(3, effort.rounds // 5)
        with Side("benchmarks.captured_call", "ours", {}) as side, run_receiver() as receiver:
            for _ in range(8):
                side.run(effort.calls)
            folder = next(side.end().glob("*/*"))
            spans = [span for trace in open_run(folder.parent).traces for span in trace.spans]
            os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = receiver.endpoint
            try:
                pairs = [(send_ours(folder), send_theirs(spans)) for _ in range(rounds + 1)][1:]
            finally:
                del os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]
            return self._make_row(pairs, len(spans), rounds, receiver)

    def _make_row(
        self, pairs: list[tuple[float, float]], number: int, rounds: int, receiver: Receiver
    ) -> Row:
        received = receiver.count_spans()
        return Row(
            name=self.name,
            unit="us/span",
            ours=[1e6 * ours / number for ours, _ in pairs],
            theirs=[1e6 * theirs / number for _, theirs in pairs],
            bar=self.bar,
            note=f"{number:,} spans a round; {received:,} at {receiver.name}",
            is_valid=received >= 2 * number * (rounds + 1),
        )


def send_ours(folder: Path) -> float:
    """Ship a copy of the journal; return the CPU seconds."""
    from otel_trace.ship.http import HttpSender
    from otel_trace.ship.shipper import Shipper

    with tempfile.TemporaryDirectory() as root:
        copy = Path(root) / folder.parent.name / folder.name
        shutil.copytree(folder, copy)
        sender = HttpSender()
        return measure_cpu(lambda: Shipper(copy, sender, print).run())


def send_theirs(spans: list[Span]) -> float:
    """Send the same spans with the SDK's exporter; return the CPU seconds."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    exporter = OTLPSpanExporter()
    stock = list(make_stock(spans))

    def send() -> None:
        for first in range(0, len(stock), BATCH):
            exporter.export(stock[first : first + BATCH])

    return measure_cpu(send)


def measure_cpu(do: Callable[[], object]) -> float:
    """Return the CPU seconds of this process that something takes."""
    started = time.process_time()
    do()
    return time.process_time() - started


BENCHMARKS = (Throughput("shipper", Bar("theirs / ours", 4)),)
