"""Programs whose spans a shipper sends to real servers: started with settings, and what of them arrived where."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from otel_trace.journal.delivery import Delivery, read_delivery
from otel_trace.journal.spans import RunData, SpanData, read_run
from tests.backends.query import JaegerClient, StoredSpan, TempoClient
from tests.backends.servers import Collector, Jaeger, Tempo
from tests.ship.processes import wait_for

CHECKOUT = Path(__file__).parents[2]
IS_LONG = os.environ.get("LONG_FAULTS", "") not in {"", "0"}


class SyncCollector(Collector):
    """A Collector that acknowledges what its backends have acknowledged: a kill of it loses nothing."""

    def _config_values(self) -> dict[str, object]:
        lines = (
            f'  {name}: {{endpoint: "{url}", compression: none, sending_queue: {{enabled: false}}}}'
            for name, url in self._forwarders.items()
        )
        return {**super()._config_values(), "forwarders": "\n".join(lines)}


@dataclass(frozen=True)
class Shipped:
    """A run of a test: its root, and what its journal and its shipper say."""

    root: Path
    # The ids of steps are derived from it, and the servers of a session keep what other tests sent.
    run_id: str = field(default_factory=lambda: f"run-{os.urandom(6).hex()}")

    @property
    def folder(self) -> Path:
        """The folder of the run on this host."""
        (folder,) = {path.parent for path in self.root.glob("*/*/*.seg")}
        return folder

    @property
    def run(self) -> RunData:
        """The run as the journal has it."""
        return read_run(self.folder)

    @property
    def delivery(self) -> Delivery:
        """What the shipper has written down."""
        return read_delivery(self.folder) or Delivery()

    def make_environment(self, endpoint: str, **variables: str) -> dict[str, str]:
        """Return the environment of a process of this run."""
        return {
            **os.environ,
            "PYTHONPATH": str(CHECKOUT),
            "OTELTRACE_DIR": str(self.root),
            "OTELTRACE_RUN_ID": self.run_id,
            "OTEL_SERVICE_NAME": "train.py",
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            **variables,
        }

    def start(
        self, program: str, *arguments: object, endpoint: str, **variables: str
    ) -> "subprocess.Popen[str]":
        """Start a program of `tests.backends.programs`."""
        return subprocess.Popen(
            [sys.executable, "-m", f"tests.backends.programs.{program}", *map(str, arguments)],
            cwd=CHECKOUT,
            env=self.make_environment(endpoint, **variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ship(self, endpoint: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """Run `otel-trace ship` for this run."""
        return subprocess.run(
            [sys.executable, "-m", "otel_trace", "ship", "--patience", "2", str(self.root)],
            env=self.make_environment(endpoint, **variables),
            capture_output=True,
            text=True,
            check=False,
        )


def end(*programs: "subprocess.Popen[str]") -> list[tuple[str, str]]:
    """Wait for programs; return what each wrote to stdout and stderr."""
    return [program.communicate(timeout=90) for program in programs]


def group_ids(spans: list[SpanData]) -> dict[str, set[str]]:
    """Return the span ids of each trace."""
    traces: dict[str, set[str]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, set()).add(span.span_id)
    return traces


def read_arrived(backend: Jaeger | Tempo, spans: list[SpanData], seconds: float = 10) -> Counter[str]:
    """Return how often each span of the run is in a backend, once all are there or the time is over."""
    traces = group_ids(spans)
    found: Counter[str] = Counter()
    for trace_id, ids in traces.items():
        stored = wait_for_ids(backend.traces(), trace_id, ids, seconds)
        found.update(span.span_id for span in stored)
    return found


def wait_for_ids(
    client: JaegerClient | TempoClient, trace_id: str, ids: set[str], seconds: float = 10
) -> list[StoredSpan]:
    """Return a trace once a backend has all of the spans in it; what there is when the time is over."""
    stored: list[StoredSpan] = []

    def ask() -> bool:
        stored[:] = client.read(trace_id)
        return ids <= {span.span_id for span in stored}

    wait_for(ask, seconds)
    return stored


def list_lost(arrived: Mapping[str, int], spans: list[SpanData]) -> list[str]:
    """Return the ids of the spans that did not arrive."""
    return [span.span_id for span in spans if not arrived.get(span.span_id)]


def count_repeated(arrived: Mapping[str, int], spans: list[SpanData]) -> int:
    """Return how many spans of the run are in a backend more than once."""
    return sum(arrived.get(span.span_id, 0) - 1 for span in spans if arrived.get(span.span_id, 0) > 1)
