"""The sender that the environment asks for: gRPC or HTTP, as OTel names them."""

import importlib
import os
from collections.abc import Mapping

from otel_trace.ship.outbox import Sender

_DEFAULT = "http/protobuf"
_HOMES = {
    "grpc": ("otel_trace.ship.grpc", "GrpcSender"),
    "http/protobuf": ("otel_trace.ship.http", "HttpSender"),
}


def read_protocol(environ: Mapping[str, str] = os.environ) -> str:
    """Read the protocol; an unknown one counts as not said."""
    told = (
        environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or environ.get("OTEL_EXPORTER_OTLP_PROTOCOL") or ""
    )
    return told.strip() if told.strip() in _HOMES else _DEFAULT


def make_sender() -> Sender:
    """Make the sender; only its library is loaded."""
    module, name = _HOMES[read_protocol()]
    sender: Sender = getattr(importlib.import_module(module), name)()
    return sender
