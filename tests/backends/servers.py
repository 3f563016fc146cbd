"""Start and stop the real servers on free loopback ports.

    with Jaeger(folder) as jaeger:
        ...                         # jaeger.otlp_http is the endpoint, jaeger.traces() the query client

A server keeps its ports over `stop()`, `kill()` and `start()`, so that a test can take a backend away and give it back.
Its log stays in `folder`; the last lines are quoted when it does not get ready.
"""

import json
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from string import Template
from types import TracebackType
from typing import Self

from tests.backends.install import find_binary
from tests.backends.query import JaegerClient, TempoClient

CONFIGS = Path(__file__).parent / "configs"
READY_SECONDS = 60.0
STOP_SECONDS = 10.0


class ServerError(Exception):
    """A server did not start; the message quotes its log."""


class Server:
    """One server process: its folder, its ports and its log."""

    name: str
    config = ""
    ports: tuple[str, ...] = ("otlp_grpc", "otlp_http", "query")
    ready_port = "ready"
    ready_path = "/"

    def __init__(self, folder: Path) -> None:
        """Choose the ports; nothing is started yet."""
        self.folder = folder
        self.log = folder / "server.log"
        self.port = dict(zip(self.ports, find_free_ports(len(self.ports)), strict=True))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def otlp_grpc(self) -> str:
        """Return the endpoint for OTLP/gRPC."""
        return f"http://127.0.0.1:{self.port['otlp_grpc']}"

    @property
    def otlp_http(self) -> str:
        """Return the base endpoint for OTLP/HTTP, as OTEL_EXPORTER_OTLP_ENDPOINT takes it."""
        return f"http://127.0.0.1:{self.port['otlp_http']}"

    @property
    def pid(self) -> int:
        """Return the id of the running process."""
        return self._running().pid

    def start(self) -> None:
        """Start the server and wait until it is ready."""
        binary = find_binary(self.name)
        if binary is None:
            message = f"{self.name} is not built: run make backends"
            raise ServerError(message)
        self.folder.mkdir(parents=True, exist_ok=True)
        config = self.folder / "config.yaml"
        config.write_text(self._render_config())
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(binary, config), stdout=log, stderr=log, cwd=self.folder
            )
        self._wait_until_ready()

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """End the server: SIGTERM, and SIGKILL when that does not help in time."""
        process = self._running()
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process = None

    def kill(self) -> None:
        """End the server at once, by SIGKILL."""
        process = self._running()
        process.kill()
        process.wait()
        self._process = None

    def read_log(self, num_lines: int = 20) -> str:
        """Return the last lines of the server's log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-num_lines:])

    def __enter__(self) -> Self:
        """Start the server."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """End the server, if a test has not ended it already; nobody needs what it still has in memory."""
        if self._process is not None:
            self.stop(seconds=2)

    def _render_config(self) -> str:
        template = Template((CONFIGS / (self.config or f"{self.name}.yaml")).read_text())
        return template.substitute(self._config_values())

    def _config_values(self) -> dict[str, object]:
        return {**self.port, "folder": self.folder}

    def _command(self, binary: Path, config: Path) -> list[str]:
        return [str(binary), "--config", str(config)]

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            message = f"{self.name} is not running"
            raise ServerError(message)
        return self._process

    def _wait_until_ready(self) -> None:
        url = f"http://127.0.0.1:{self.port[self.ready_port]}{self.ready_path}"
        deadline = time.monotonic() + READY_SECONDS
        while not answers(url):
            code = self._running().poll()
            if code is not None:
                self._process = None
                message = (
                    f"{self.name} ended with code {code} before it was ready. Its log:\n{self.read_log()}"
                )
                raise ServerError(message)
            if time.monotonic() > deadline:
                self.kill()
                message = (
                    f"{self.name} was not ready after {READY_SECONDS:.0f} s. Its log:\n{self.read_log()}"
                )
                raise ServerError(message)
            time.sleep(0.1)


class Jaeger(Server):
    """Jaeger with memory storage."""

    name = "jaeger"
    ports = ("otlp_grpc", "otlp_http", "query", "query_grpc", "ready")
    ready_path = "/status"

    def traces(self) -> JaegerClient:
        """Return a client for its query API."""
        return JaegerClient(f"http://127.0.0.1:{self.port['query']}")


class Tempo(Server):
    """Tempo with local storage."""

    name = "tempo"
    ports = ("otlp_grpc", "otlp_http", "query", "internal")
    ready_port = "query"
    ready_path = "/ready"

    def __init__(self, folder: Path, *, late_data: bool = False) -> None:
        """Choose the usual configuration, or the one for data that arrives late."""
        super().__init__(folder)
        self.config = "tempo-late-data.yaml" if late_data else "tempo.yaml"

    def traces(self) -> TempoClient:
        """Return a client for its query API."""
        return TempoClient(f"http://127.0.0.1:{self.port['query']}")

    def _command(self, binary: Path, config: Path) -> list[str]:
        return [str(binary), f"-config.file={config}"]


class Collector(Server):
    """The OpenTelemetry Collector: counts what it receives and sends it on to other servers."""

    name = "otelcol"
    ports: tuple[str, ...] = ("otlp_grpc", "otlp_http", "counters", "ready")

    def __init__(self, folder: Path, *, forward_to: tuple[Server, ...] = ()) -> None:
        """Name the servers that get everything this one receives."""
        super().__init__(folder)
        self._forwarders = {f"otlphttp/{server.name}": server.otlp_http for server in forward_to}

    def count_received_spans(self) -> int:
        """Return how many spans the Collector has accepted since it started."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port['counters']}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
        return sum(int(float(line.split()[-1])) for line in lines if is_received_spans(line))

    def _config_values(self) -> dict[str, object]:
        lines = (
            f'  {name}: {{endpoint: "{url}", compression: none}}' for name, url in self._forwarders.items()
        )
        exporters = json.dumps(["debug", *self._forwarders])
        return {**super()._config_values(), "exporters": exporters, "forwarders": "\n".join(lines)}


def is_received_spans(line: str) -> bool:
    """Return whether a line of the Collector's counters counts received spans."""
    return line.startswith("otelcol_receiver_accepted_spans")


def answers(url: str) -> bool:
    """Return whether a server answers with success."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def find_free_ports(count: int) -> list[int]:
    """Return loopback ports that nobody listens on now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
