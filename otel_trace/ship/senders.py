"""The sender that the environment asks for, made when it is first needed; only its library is loaded.

One that cannot be made refuses everything, with the reason, and is tried again: a certificate may be mounted
late.
"""

import importlib
import os
from collections.abc import Callable, Mapping

from otel_trace.errors import ExporterRefused
from otel_trace.ship.answer import Answer, Outcome
from otel_trace.ship.outbox import Sender
from otel_trace.ship.settings import check_credentials, mend_settings, read_endpoint, read_protocol

_HOMES = {
    "grpc": ("otel_trace.ship.grpc", "GrpcSender"),
    "http/protobuf": ("otel_trace.ship.http", "HttpSender"),
}


def make_sender(environ: Mapping[str, str] = os.environ) -> Sender:
    """Make the sender that the environment asks for, or raise ExporterRefused with the reason in one line."""
    protocol = read_protocol(environ)
    check_credentials(environ, is_grpc=protocol == "grpc")
    module, name = _HOMES[protocol]
    try:
        sender: Sender = getattr(importlib.import_module(module), name)()
    except (ImportError, OSError, ValueError, RuntimeError, TypeError) as error:
        raise ExporterRefused(f"the exporter cannot be made ({type(error).__name__}: {error})") from error
    return sender


class LazySender:
    """Makes the sender when there is something to send."""

    def __init__(self, tell: Callable[[str], None], make: Callable[[], Sender] = make_sender) -> None:
        mend_settings(tell)
        self._make = make
        self._sender: Sender | None = None
        self.endpoint = read_endpoint()

    def send(self, body: bytes) -> Answer:
        """Send one request and say what became of it."""
        if self._sender is None:
            try:
                self._sender = self._make()
            except ExporterRefused as error:
                return Answer(Outcome.REFUSED, str(error), is_reached=False)
        return self._sender.send(body)

    def close(self) -> None:
        """Close the connections."""
        if self._sender is not None:
            self._sender.close()
            self._sender = None
