"""A small HTTP server with prepared answers, for what a real backend cannot be made to say."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, bytes]
Answers = Mapping[str, Any] | Callable[[str], Any]


@dataclass
class Server:
    """A running server: where it is, and the requests it has seen with their headers."""

    url: str
    requests: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)

    @property
    def paths(self) -> list[str]:
        """The paths that were asked for, with their queries."""
        return [path for path, _ in self.requests]


@contextlib.contextmanager
def serve(answers: Answers) -> Iterator[Server]:
    """Answer each path (without its query) with JSON, bytes, or a status and bytes; 404 for all others."""
    seen: list[tuple[str, Mapping[str, str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, dict(self.headers)))
            status, body = prepare(find_answer(answers, self.path))
            self.send_response(status)
            if status == 302:
                self.send_header("Location", body.decode())
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{server.server_port}", seen)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def find_answer(answers: Answers, path: str) -> Any:
    """Return what was prepared for a path."""
    return answers(path) if callable(answers) else answers.get(path.partition("?")[0], (404, b"not found"))


def prepare(answer: Any) -> Answer:
    """Return a status and the bytes of a body."""
    if isinstance(answer, tuple):
        return answer
    return (200, answer if isinstance(answer, bytes) else json.dumps(answer).encode())
