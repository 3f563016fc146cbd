"""What `import otel_trace`, and `configure()` with the first span, cost in a fresh process."""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

from benchmarks.harness import CHECKOUT, Effort, clean_environment
from benchmarks.result import Bar, Row

# What must not be loaded in the user's process; the SDK may be, but only by `configure()`.
FORBIDDEN_AT_IMPORT = ("torch", "numpy", "opentelemetry.sdk", "grpc", "google.protobuf", "requests")
FORBIDDEN_AT_START = ("torch", "numpy", "grpc", "google.protobuf", "requests")

OURS_IMPORT = "import opentelemetry.trace, otel_trace"
THEIRS_IMPORT = "import opentelemetry.trace"
OURS_START = """
import opentelemetry.trace, otel_trace as ot
begin()
ot.configure()
with ot.span("first"):
    pass
"""
THEIRS_START = """
import opentelemetry.trace as api
begin()
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
api.set_tracer_provider(TracerProvider())
api.get_tracer_provider().add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
with api.get_tracer("x").start_as_current_span("first"):
    pass
"""
# `os._exit`: nothing is there to send to, and the rival would wait for it.
SCRIPT = """
import json, os, resource, sys, time

def read_memory():
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def begin():
    global started, memory
    memory, started = read_memory(), time.process_time()

begin()
{source}
print(json.dumps(dict(
    ms=1e3 * (time.process_time() - started),
    mb=(read_memory() - memory) / 1e6,
    modules=[name for name in {forbidden!r} if name in sys.modules],
)), flush=True)
os._exit(0)
"""


@dataclass(frozen=True)
class Start:
    """A benchmark of fresh processes: one quantity of two scripts, taking turns."""

    name: str
    unit: str
    ours: str
    theirs: str
    bar: Bar
    forbidden: tuple[str, ...]

    def measure(self, effort: Effort) -> Row:
        """Start processes in turn; the first pair compiles what it imports, as an installation has done."""
        with tempfile.TemporaryDirectory() as bytecode:
            pairs = [
                (self._run(self.ours, bytecode), self._run(self.theirs, bytecode))
                for _ in range(effort.rounds + 1)
            ]
        del pairs[0]
        loaded = sorted({name for ours, _ in pairs for name in ours["modules"]})
        return Row(
            name=self.name,
            unit=self.unit,
            ours=[ours[self.unit] for ours, _ in pairs],
            theirs=[theirs[self.unit] for _, theirs in pairs],
            bar=self.bar,
            note=f"loaded, and must not be: {', '.join(loaded)}" if loaded else "",
            is_valid=not loaded,
        )

    def _run(self, source: str, bytecode: str) -> dict[str, Any]:
        with clean_environment({"PYTHONPYCACHEPREFIX": bytecode}) as environment:
            script = SCRIPT.format(source=source, forbidden=self.forbidden)
            command = [sys.executable, "-c", script]
            answer = subprocess.run(
                command, cwd=CHECKOUT, env=environment, check=True, stdout=subprocess.PIPE
            )
        measured: dict[str, Any] = json.loads(answer.stdout)
        return measured


BENCHMARKS = (
    Start("import-time", "ms", OURS_IMPORT, THEIRS_IMPORT, Bar("ours - theirs", 30), FORBIDDEN_AT_IMPORT),
    Start("start-time", "ms", OURS_START, THEIRS_START, Bar("ours", 80), FORBIDDEN_AT_START),
    Start("start-memory", "mb", OURS_START, THEIRS_START, Bar("ours", 15), FORBIDDEN_AT_START),
)
