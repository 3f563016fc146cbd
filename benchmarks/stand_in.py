"""A server that takes every OTLP/HTTP request and counts its spans: `python -m benchmarks.stand_in`."""

import gzip
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Handler(BaseHTTPRequestHandler):
    """Answers `POST /v1/traces` with success and `GET /count` with the number of spans."""

    protocol_version = "HTTP/1.1"
    counts: list[int] = []  # noqa: RUF012 - shared by all requests on purpose

    def do_POST(self) -> None:
        """Count the spans of a request."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        request = ExportTraceServiceRequest.FromString(body)
        self.counts.append(
            sum(len(scope.spans) for group in request.resource_spans for scope in group.scope_spans)
        )
        self._answer(b"")

    def do_GET(self) -> None:
        """Tell how many spans there were."""
        self._answer(str(sum(self.counts)).encode())

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - the name the base class gives it
        """Print no line per request."""

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
