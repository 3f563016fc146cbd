"""OTLP over gRPC: the official exporter's settings, channel and TLS; one call at a time, its answer read by us."""

from typing import Any

import grpc
from google.rpc.error_details_pb2 import RetryInfo
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_trace.ship.answer import Answer, Outcome, read_partial

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
_MEANING = {
    grpc.StatusCode.UNAUTHENTICATED: "the endpoint wants credentials: set OTEL_EXPORTER_OTLP_HEADERS",
    grpc.StatusCode.PERMISSION_DENIED: "the endpoint forbids it: are the credentials right?",
    grpc.StatusCode.UNIMPLEMENTED: "the endpoint knows no OTLP traces over gRPC: is it an OTLP/HTTP one?",
}


class GrpcSender:
    """Sends request bodies over gRPC."""

    def __init__(self) -> None:
        self._exporter: Any = OTLPSpanExporter()
        self.endpoint = str(self._exporter._endpoint)
        channel: Any = self._exporter._channel
        self._call: Any = channel.unary_unary(
            _METHOD, request_serializer=None, response_deserializer=ExportTraceServiceResponse.FromString
        )

    def send(self, body: bytes) -> Answer:
        """Send one request and say what became of it."""
        try:
            response = self._call(body, metadata=self._exporter._headers, timeout=self._exporter._timeout)
        except grpc.RpcError as error:
            return _read_error(error)
        return read_partial(response.partial_success.rejected_spans, response.partial_success.error_message)

    def close(self) -> None:
        """Close the channel."""
        self._exporter._channel.close()


def _read_error(error: Any) -> Answer:
    code, details = error.code(), " ".join(str(error.details()).split())[:200]
    said = f"{code.name} ({details})"
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in details:
        return Answer(Outcome.SPLIT, said)
    if code in _RETRY:
        return Answer(
            Outcome.RETRY, said, retry_after=_read_retry_info(error), is_reached=code not in _NOT_REACHED
        )
    return Answer(
        Outcome.REFUSED, f"{code.name}: {_MEANING.get(code, 'the endpoint refuses the request')} ({details})"
    )


def _read_retry_info(error: Any) -> float:
    for key, value in error.trailing_metadata() or ():
        if key == "google.rpc.retryinfo-bin":
            info = RetryInfo.FromString(value)
            seconds = float(info.retry_delay.seconds + info.retry_delay.nanos / 1e9)
            return min(max(seconds, 0.0), 300.0)
    return 0.0
