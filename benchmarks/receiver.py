"""Where the rivals export to: a real Collector if one is built, else a small server that takes everything.

It runs in a process of its own, so its work is in nobody's figure.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.request import urlopen

from tests.backends.install import find_binary
from tests.backends.servers import Collector

CHECKOUT = Path(__file__).parent.parent


class Receiver(Protocol):
    """A server for OTLP/HTTP that knows how many spans it got."""

    @property
    def name(self) -> str:
        """Return what the server is."""

    @property
    def endpoint(self) -> str:
        """Return the URL that exporters post to."""

    def count_spans(self) -> int:
        """Return the number of spans received so far."""


@dataclass(frozen=True)
class RealReceiver:
    """The OpenTelemetry Collector."""

    server: Collector
    name: str = "the Collector"

    @property
    def endpoint(self) -> str:
        """Return the URL that exporters post to."""
        return f"{self.server.otlp_http}/v1/traces"

    def count_spans(self) -> int:
        """Ask the Collector's own counters."""
        return self.server.count_received_spans()


@dataclass(frozen=True)
class StandIn:
    """A small server of ours that says 200 to everything."""

    address: str
    name: str = "a stand-in that accepts everything (the Collector is not built: make backends)"

    @property
    def endpoint(self) -> str:
        """Return the URL that exporters post to."""
        return f"{self.address}/v1/traces"

    def count_spans(self) -> int:
        """Ask it how many spans were in the requests."""
        with urlopen(f"{self.address}/count", timeout=60) as answer:
            return int(answer.read())


@contextmanager
def run_receiver() -> Iterator[Receiver]:
    """Run the Collector, or the stand-in where it is not built."""
    if find_binary("otelcol") is None:
        with run_stand_in() as stand_in:
            yield stand_in
        return
    with tempfile.TemporaryDirectory() as folder, Collector(Path(folder)) as server:
        yield RealReceiver(server)


@contextmanager
def run_stand_in() -> Iterator[StandIn]:
    """Run the small server in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.stand_in"]
    process = subprocess.Popen(command, cwd=CHECKOUT, text=True, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield StandIn(f"http://127.0.0.1:{int(process.stdout.readline())}")
    finally:
        process.kill()
        process.communicate()
