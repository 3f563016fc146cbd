"""Servers in the moods that a collector may be in, each in a thread: slow, hung, refusing, overloaded."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SLOW_SECONDS = 1.0


class _Answering(BaseHTTPRequestHandler):
    """Answers every request with one status, after a while."""

    status = 200
    seconds = 0.0

    def do_POST(self) -> None:
        """Take the request and answer."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        time.sleep(self.seconds)
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def run_answering(status: int, seconds: float) -> Iterator[str]:
    """Run a server that answers with a status after some seconds."""
    handler = type("Handler", (_Answering,), {"status": status, "seconds": seconds})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def run_hung() -> Iterator[str]:
    """Run a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def run_refusing() -> Iterator[str]:
    """Give the address of a port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


MOODS = {
    "slow": lambda: run_answering(200, SLOW_SECONDS),
    "hung": run_hung,
    "refusing": run_refusing,
    "429": lambda: run_answering(429, 0.0),
}
