"""The same call with everything the node spends on it: the training process and our shipper, against the SDK's pipeline."""

import os
import time
from itertools import count
from pathlib import Path

import psutil

from benchmarks import captured_call
from benchmarks.harness import Block, Calls
from benchmarks.result import Bar
from benchmarks.workload import forward, make_tensors


def ours() -> Block:
    """Return calls of a decorated function, which the server has acknowledged when they return."""
    import otel_trace as ot

    os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = os.environ["BENCHMARK_ENDPOINT"]
    ot.configure()
    call = ot.traced(forward)
    x, y, z = make_tensors()
    numbers = count()

    def run(calls: int) -> None:
        with ot.step(next(numbers)):
            for _ in range(calls):
                call(x, y, z)
        if not ot.flush():
            raise RuntimeError("the server did not acknowledge the spans")

    return run


def read_cpu() -> float:
    """Return the CPU seconds of this process and of its run's shipper so far."""
    _SHIPPERS[:] = [pid for pid in _SHIPPERS if psutil.pid_exists(pid)] or find_shippers()
    return time.process_time() + sum(map(read_seconds, _SHIPPERS))


_SHIPPERS: list[int] = []


def find_shippers() -> list[int]:
    """Return the shippers of the journals of this process; they are nobody's children."""
    folder = os.environ["OTELTRACE_DIR"]
    return [process.pid for process in psutil.process_iter() if is_shipper_of(process, folder)]


def is_shipper_of(process: psutil.Process, folder: str) -> bool:
    """Say whether a process ships the journals below a folder."""
    try:
        return process.cmdline()[-1:] != [] and process.cmdline()[-1].startswith(folder)
    except psutil.Error:
        return False


def read_seconds(pid: int) -> float:
    """Return the CPU seconds of all threads of a process, finer than the clock ticks of its accounting."""
    times = Path(f"/proc/{pid}/task").glob("*/schedstat")
    try:
        return sum(int(path.read_text().split()[0]) for path in times) / 1e9
    except OSError:
        return 0.0


theirs = captured_call.theirs

BENCHMARKS = (Calls("node-cost", __name__, Bar("theirs / ours", 4), is_exported=True, is_shipped=True),)
