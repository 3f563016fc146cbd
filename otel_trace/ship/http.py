"""OTLP over HTTP: the official exporter's settings, session and TLS; one request at a time, its answer read by us."""

from typing import Any

import requests
from google.protobuf.message import DecodeError
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from urllib3.exceptions import HTTPError

from otel_trace.ship.answer import Answer, Outcome, read_partial, read_status

_MAX_ANSWER = 64 * 1024


class _OneTry(requests.Session):
    """Asks once, follows no redirect, keeps the answer for us, and tells the exporter that all is well."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: requests.Response | requests.RequestException | None = None

    def request(self, *args: Any, **kwargs: Any) -> requests.Response:
        """Ask, and keep what came back."""
        kwargs |= {"allow_redirects": False, "stream": True}
        try:
            self.answer = super().request(*args, **kwargs)
        except requests.RequestException as error:
            self.answer = error
        done = requests.Response()
        done.status_code = 200
        return done


class HttpSender:
    """Sends request bodies over HTTP."""

    def __init__(self) -> None:
        self._session = _OneTry()
        exporter: Any = OTLPSpanExporter(session=self._session)
        client = getattr(exporter, "_client", None)
        self._post: Any = client.export if client is not None else exporter._export
        self.endpoint = str(exporter._endpoint)

    def send(self, body: bytes) -> Answer:
        """Send one request and say what became of it."""
        self._session.answer = None
        self._post(body)
        return _read_answer(self._session.answer)

    def close(self) -> None:
        """Close the connections."""
        self._session.close()


def _read_answer(answer: requests.Response | requests.RequestException | None) -> Answer:
    if not isinstance(answer, requests.Response):
        return Answer(Outcome.RETRY, _explain(answer), is_reached=False)
    with answer:
        try:
            content = answer.raw.read(_MAX_ANSWER, decode_content=True) or b""
        except (OSError, HTTPError, requests.RequestException) as error:
            return Answer(Outcome.RETRY, _explain(error), is_reached=False)
    if 200 <= answer.status_code < 300:
        return _read_success(content)
    return read_status(
        answer.status_code, answer.headers.get("Retry-After"), content.decode("utf-8", "replace")
    )


def _read_success(content: bytes) -> Answer:
    try:
        partial = ExportTraceServiceResponse.FromString(content).partial_success
    except DecodeError:
        return Answer(
            Outcome.REFUSED, "200 with a body that is no OTLP answer: is the endpoint an OTLP/HTTP one?"
        )
    return read_partial(partial.rejected_spans, partial.error_message)


def _explain(error: BaseException | None) -> str:
    """Give the innermost reason of a failed request."""
    while error is not None and (error.__cause__ or error.__context__):
        error = error.__cause__ or error.__context__
    return f"{type(error).__name__}: {error}"[:200]
