"""Two sides that take turns: calls of ours and of a rival, each in a process of its own.

A side is a function in a benchmark's file that sets itself up and returns a `Block`: it makes so many calls and
finishes what they left to do. `benchmarks.side` runs it, because only one side can own the global provider.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from benchmarks.receiver import run_receiver
from benchmarks.result import Bar, Row
from otel_trace.view import open_run

Block = Callable[[int], None]
CHECKOUT = Path(__file__).parent.parent
FOREIGN_SETTINGS = ("OTEL_", "OTELTRACE_", "LOGFIRE_", "PYTHON")


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    A block stays below the 2,048 spans of the SDK's queue, so that the SDK drops none of them.
    """

    rounds: int = 25
    calls: int = 1_500

    @classmethod
    def quick(cls) -> Self:
        """Return the short form: a few seconds a benchmark, wider spread."""
        return cls(rounds=7, calls=500)


class Benchmark(Protocol):
    """What a benchmark's file offers in its `BENCHMARKS`."""

    @property
    def name(self) -> str:
        """Return the name that `--only` takes."""

    def measure(self, effort: Effort) -> Row:
        """Measure both sides, taking turns."""


@dataclass(frozen=True)
class Calls:
    """A benchmark of calls: CPU microseconds of the tracing process per call, on both sides.

    With `is_shipped` ours sends too, and what its shipper spends counts. `times` makes the blocks of a cheap call longer. `is_exported` gives the sides a server to send to and checks
    that nothing was dropped on the way.
    """

    name: str
    module: str
    bar: Bar
    ours: str = "ours"
    theirs: str = "theirs"
    environment: Mapping[str, str] = field(default_factory=dict)
    times: int = 1
    is_exported: bool = False
    is_shipped: bool = False

    def measure(self, effort: Effort) -> Row:
        """Let the two sides take turns."""
        calls = effort.calls * self.times
        with ExitStack() as stack:
            receiver = stack.enter_context(run_receiver()) if self.is_exported else None
            endpoint = {"BENCHMARK_ENDPOINT": receiver.endpoint} if receiver else {}
            own = endpoint if self.is_shipped else {}
            ours = stack.enter_context(Side(self.module, self.ours, {**self.environment, **own}))
            theirs = stack.enter_context(Side(self.module, self.theirs, {**self.environment, **endpoint}))
            pairs = take_turns(ours, theirs, effort.rounds, calls)
            kept, received = (count_spans(ours.end()), receiver.count_spans()) if receiver else (0, 0)
        note = (
            f"{calls * (effort.rounds + 1):,} calls each; {kept:,} spans in the journal, " if receiver else ""
        )
        note += f"{received:,} at {receiver.name}" if receiver else ""
        return Row(
            name=self.name,
            unit="us/call",
            ours=[1e6 * seconds / calls for seconds, _ in pairs],
            theirs=[1e6 * seconds / calls for _, seconds in pairs],
            bar=self.bar,
            note=note,
            is_valid=receiver is None or min(kept, received) >= ours.num_calls,
        )


def take_turns(ours: "Side", theirs: "Side", rounds: int, calls: int) -> list[tuple[float, float]]:
    """Return the CPU seconds of neighbouring blocks; one pair more warms up, and the order alternates."""
    pairs = []
    for number in range(rounds + 1):
        first, second = (ours, theirs) if number % 2 else (theirs, ours)
        seconds = {side: side.run(calls) for side in (first, second)}
        pairs.append((seconds[ours], seconds[theirs]))
    return pairs[1:]


class Side:
    """One side in a process of its own, which makes a block of calls whenever it is told to."""

    def __init__(self, module: str, function: str, environment: Mapping[str, str]) -> None:
        self.num_calls = 0
        self._command = [sys.executable, "-m", "benchmarks.side", module, function]
        self._environment = environment
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Start the process and wait until it is set up."""
        environment = self._stack.enter_context(clean_environment(self._environment))
        self._folder = Path(environment["OTELTRACE_DIR"])
        self._process = subprocess.Popen(
            self._command,
            cwd=CHECKOUT,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._read_answer()
        return self

    def run(self, calls: int) -> float:
        """Make a block of calls; return the CPU seconds it took."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{calls}\n")
        self._process.stdin.flush()
        self.num_calls += calls
        return float(self._read_answer())

    def end(self) -> Path:
        """End the process; return the folder of its journal."""
        self._process.communicate(timeout=60)
        return self._folder

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """End the process, if it has not ended, and remove what it wrote."""
        with self._stack:
            if self._process.poll() is None:
                self.end()

    def _read_answer(self) -> str:
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"`{' '.join(self._command[1:])}` ended with code {self._process.wait()}")
        return answer


@contextmanager
def clean_environment(extra: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Give an environment without the caller's settings, with a journal folder of its own."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN_SETTINGS)}
    with tempfile.TemporaryDirectory(prefix="otel-trace-bench-") as folder:
        yield {**inherited, "OTELTRACE_DIR": folder, "PYTHONPATH": str(CHECKOUT), **extra}


def count_spans(folder: Path) -> int:
    """Return how many ended spans a journal has."""
    return sum(not span.is_open for trace in open_run(folder).traces for span in trace.spans)
