"""OTLP over gRPC: the official exporter's settings, channel and TLS; one call at a time, its answer read by us."""

import re
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_trace.ship.answer import Answer, Outcome, bound_wish, quote, read_partial
from otel_trace.ship.settings import read_endpoint

_METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_RETRY = {
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DATA_LOSS,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}
_NOT_REACHED = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}
_TOO_LARGE = re.compile(r"larger than max|exceeds maximum", re.IGNORECASE)
_MEANING = {
    grpc.StatusCode.INVALID_ARGUMENT: "the endpoint calls the request malformed",
    grpc.StatusCode.UNAUTHENTICATED: "the endpoint wants credentials: set OTEL_EXPORTER_OTLP_HEADERS",
    grpc.StatusCode.PERMISSION_DENIED: "the endpoint forbids it: are the credentials right?",
    grpc.StatusCode.UNIMPLEMENTED: "the endpoint knows no OTLP traces over gRPC: is it an OTLP/HTTP one?",
}


class _Exporter(OTLPSpanExporter):
    """The official exporter, with its channel kept for us: the class of its client is a place to take it from."""

    @property
    def _stub(self) -> Any:
        return self._keep_channel

    @_stub.setter
    def _stub(self, stub: Any) -> None:
        """Leave the exporter's own client aside."""

    def _keep_channel(self, channel: Any) -> None:
        self.channel = channel


class GrpcSender:
    """Sends request bodies over gRPC."""

    def __init__(self) -> None:
        self.endpoint = read_endpoint()
        self._connect()

    def _connect(self) -> None:
        self._exporter: Any = _Exporter()
        self._call: Any = self._exporter.channel.unary_unary(
            _METHOD, request_serializer=None, response_deserializer=ExportTraceServiceResponse.FromString
        )

    def send(self, body: bytes) -> Answer:
        """Send one request and say what became of it."""
        try:
            response = self._call(body, metadata=self._exporter._headers, timeout=self._exporter._timeout)
        except grpc.RpcError as error:
            answer = _read_error(error)
            if not answer.is_reached:
                # A channel waits longer and longer, up to two minutes, before it connects again.
                self.close()
                self._connect()
            return answer
        return read_partial(response.partial_success.rejected_spans, response.partial_success.error_message)

    def close(self) -> None:
        """Close the channel."""
        self._exporter.channel.close()


def _read_error(error: Any) -> Answer:
    code, details = error.code(), str(error.details())
    said = f"{code.name}{quote(details)}"
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and _TOO_LARGE.search(details):
        return Answer(Outcome.SPLIT, said)
    if code in _RETRY:
        return Answer(
            Outcome.RETRY, said, retry_after=_read_retry_info(error), is_reached=code not in _NOT_REACHED
        )
    outcome = Outcome.MALFORMED if code is grpc.StatusCode.INVALID_ARGUMENT else Outcome.REFUSED
    meaning = _MEANING.get(code, "the endpoint refuses the request")
    return Answer(outcome, f"{code.name}: {meaning}{quote(details)}")


def _read_retry_info(error: Any) -> float:
    """Give how long the endpoint asks us to wait, from the details of its status."""
    for key, value in error.trailing_metadata() or ():
        try:
            if key == "grpc-status-details-bin":
                for detail in Status.FromString(value).details:
                    info = RetryInfo()
                    if detail.Unpack(info):
                        return _read_delay(info)
            elif key == "google.rpc.retryinfo-bin":
                return _read_delay(RetryInfo.FromString(value))
        except DecodeError:
            continue
    return 0.0


def _read_delay(info: Any) -> float:
    return bound_wish(info.retry_delay.seconds + info.retry_delay.nanos / 1e9)
