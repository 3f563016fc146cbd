"""Small servers for what a real one cannot be made to do: odd answers, silence, torn connections."""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc


@dataclass
class Reply:
    """What an HTTP endpoint answers."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class HttpFake:
    """An endpoint, what it answers next (the last reply again and again), and what it was asked."""

    url: str
    replies: list[Reply] = field(default_factory=lambda: [Reply()])
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    connections: set[int] = field(default_factory=set)


@contextlib.contextmanager
def run_http() -> Iterator[HttpFake]:
    """Give an HTTP endpoint that answers as it is told."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            fake.connections.add(self.client_address[1])
            fake.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            fake.headers.append({name.lower(): text for name, text in self.headers.items()})
            fake.paths.append(self.path)
            reply = fake.replies.pop(0) if len(fake.replies) > 1 else fake.replies[0]
            self.send_response(reply.status)
            for name, text in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(reply.body)

        def do_GET(self) -> None:
            fake.paths.append(f"GET {self.path}")
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    class Server(ThreadingHTTPServer):
        daemon_threads = False
        block_on_close = False

    server = Server(("127.0.0.1", 0), Handler)
    fake = HttpFake(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def run_tcp(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """Give the URL of a server that does whatever `talk` does with each connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []
    talking: list[socket.socket] = []

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                talking.append(connection)
                threads.append(threading.Thread(target=guard, args=(connection,)))
                threads[-1].start()

    def guard(connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            talk(connection)

    acceptor = threading.Thread(target=serve)
    acceptor.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        acceptor.join()
        for connection in talking:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()


def stay_silent(connection: socket.socket) -> None:
    """Take whatever comes and never answer."""
    while connection.recv(65536):
        pass


def drip(connection: socket.socket) -> None:
    """Answer a byte at a time, for ever: a slow loris."""
    connection.recv(65536)
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100000:
        connection.send(bytes([byte]))
        time.sleep(0.05)


def drip_body(connection: socket.socket) -> None:
    """Answer with a whole head and then a byte at a time."""
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(100000):
        connection.send(b"x")
        time.sleep(0.05)


def reset_in_body(connection: socket.socket) -> None:
    """Promise a body, send a part of it, and reset."""
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def reset_at_once(connection: socket.socket) -> None:
    """Reset before anything was read."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@dataclass
class GrpcFake:
    """An OTLP/gRPC endpoint, how it behaves, and what it was asked."""

    url: str
    behave: Callable[[grpc.ServicerContext], bytes] = lambda _: b""
    bodies: list[bytes] = field(default_factory=list)
    metadata: list[dict[str, Any]] = field(default_factory=list)


@contextlib.contextmanager
def run_grpc(port: int = 0) -> Iterator[GrpcFake]:
    """Give an OTLP/gRPC endpoint that behaves as it is told."""

    def export(body: bytes, context: grpc.ServicerContext) -> bytes:
        fake.bodies.append(body)
        fake.metadata.append(dict(context.invocation_metadata()))
        return fake.behave(context)

    handler = grpc.method_handlers_generic_handler(
        "opentelemetry.proto.collector.trace.v1.TraceService",
        {"Export": grpc.unary_unary_rpc_method_handler(export)},
    )
    with ThreadPoolExecutor(2) as pool:
        server = grpc.server(pool)
        server.add_generic_rpc_handlers((handler,))
        fake = GrpcFake(f"http://127.0.0.1:{server.add_insecure_port(f'127.0.0.1:{port}')}")
        server.start()
        try:
            yield fake
        finally:
            server.stop(0).wait()


def find_closed_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def run_black_hole() -> Iterator[str]:
    """Give the URL of a port that never completes a connection: its queue is full."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            one = stack.enter_context(socket.socket())
            one.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                one.connect(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
