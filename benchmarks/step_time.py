"""The 99th percentile of a step's time while the collector is up, slow, hung, refusing or overloaded."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from benchmarks.harness import CHECKOUT, Effort, clean_environment
from benchmarks.moods import MOODS
from benchmarks.receiver import run_receiver
from benchmarks.result import Bar, Row

STEPS = """
import sys, time, torch
import otel_trace as ot
torch.set_num_threads(1)
ot.configure()
weights = torch.randn(768, 768)

@ot.stage("forward")
def forward(batch):
    return (batch @ weights).relu() @ weights

@ot.traced
def load(number):
    return torch.randn(128, 768)

times = []
for number in range(int(sys.argv[1])):
    started = time.perf_counter()
    with ot.step(number):
        with ot.stage("data"):
            batch = load(number)
        for _ in range(4):
            forward(batch)
    times.append(time.perf_counter() - started)
times = sorted(times[len(times) // 3 :])  # the shipper has started by then
print(times[int(len(times) * 0.99)])
"""


@dataclass(frozen=True)
class StepTime:
    """A benchmark of wall time: the slow steps of a loop with an exporter, against the same loop without one."""

    name: str
    bar: Bar
    serve: Callable[[], AbstractContextManager[str]]

    def measure(self, effort: Effort) -> Row:
        """Let loops with and without an exporter take turns."""
        steps, rounds = effort.calls // 2, max(5, effort.rounds // 4)
        with self.serve() as endpoint:
            pairs = [(run_loop(steps, endpoint), run_loop(steps, "")) for _ in range(rounds)]
        return Row(
            name=self.name,
            unit="ms p99",
            ours=[1e3 * ours for ours, _ in pairs],
            theirs=[1e3 * theirs for _, theirs in pairs],
            bar=self.bar,
            note=f"{steps:,} steps a round",
        )


def run_loop(steps: int, endpoint: str) -> float:
    """Run the loop in a process of its own; return the 99th percentile of its steps in seconds."""
    exporter = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint} if endpoint else {}
    with clean_environment(exporter) as environment:
        command = [sys.executable, "-c", STEPS, str(steps)]
        done = subprocess.run(
            command, cwd=CHECKOUT, env=environment, text=True, capture_output=True, check=True
        )
    return float(done.stdout)


@contextmanager
def run_up() -> Iterator[str]:
    """Run the Collector, or what stands in for it."""
    with run_receiver() as receiver:
        yield receiver.endpoint.removesuffix("/v1/traces")


BENCHMARKS = tuple(
    StepTime(f"step-p99-{name}", Bar("ours / theirs", 1.10), serve)
    for name, serve in {"up": run_up, **MOODS}.items()
)
