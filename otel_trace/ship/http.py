"""OTLP over HTTP: the official exporter's settings, session and TLS; one request at a time, its answer read by us."""

import contextlib
import json
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any, NoReturn

import requests
from google.protobuf.message import DecodeError
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from urllib3.exceptions import HTTPError

from otel_trace.ship.answer import Answer, Outcome, read_partial, read_status
from otel_trace.ship.settings import read_endpoint

_MAX_ANSWER = 64 * 1024
# No later try mends these by itself: the user has to.
_LASTING = (
    requests.exceptions.SSLError,
    requests.exceptions.InvalidSchema,
    requests.exceptions.MissingSchema,
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidHeader,
)


class _OneTry(requests.Session):
    """Asks once, follows no redirect, keeps the answer for us, and tells the exporter that all is well."""

    def __init__(self) -> None:
        super().__init__()
        self.auth = _keep_headers  # so that no .netrc replaces the headers that were asked for
        self.answer: requests.Response | Exception | None = None

    def request(self, *args: Any, **kwargs: Any) -> requests.Response:
        """Ask, and keep what came back."""
        kwargs |= {"allow_redirects": False, "stream": True}
        if kwargs.get("verify") is None and self.verify is not True:
            kwargs["verify"] = self.verify  # REQUESTS_CA_BUNDLE would win over the session's
        try:
            self.answer = super().request(*args, **kwargs)
        except (OSError, ValueError, HTTPError) as error:
            self.answer = error
        done = requests.Response()
        done.status_code = 200
        return done


def _keep_headers(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


class HttpSender:
    """Sends request bodies over HTTP."""

    def __init__(self) -> None:
        self._session = _OneTry()
        exporter: Any = OTLPSpanExporter(session=self._session)
        client = getattr(exporter, "_client", None)
        self._post: Any = client.export if client is not None else exporter._export
        self._timeout = float(getattr(client or exporter, "_timeout", 10.0))
        self.endpoint = read_endpoint()

    def send(self, body: bytes) -> Answer:
        """Send one request and say what became of it."""
        try:
            with _within(self._timeout):
                self._post(body)
                return _read_answer(self._session.answer)
        except TimeoutError as error:
            self._session.close()
            return Answer(Outcome.RETRY, _explain(error), is_reached=False)
        finally:
            self._session.answer = None  # it would keep its connection open

    def close(self) -> None:
        """Close the connections."""
        self._session.close()


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError when the whole takes longer: requests' own limit begins anew with every byte."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def raise_overdue(*_: object) -> NoReturn:
        raise TimeoutError(f"no whole answer within {seconds:g} s")

    begin = time.monotonic()
    previous = signal.signal(signal.SIGALRM, raise_overdue)
    others, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        if others:
            signal.setitimer(signal.ITIMER_REAL, max(others - (time.monotonic() - begin), 0.001))


def _read_answer(answer: requests.Response | Exception | None) -> Answer:
    if not isinstance(answer, requests.Response):
        outcome = Outcome.REFUSED if isinstance(answer, _LASTING) else Outcome.RETRY
        return Answer(outcome, _explain(answer), is_reached=False)
    with answer:
        try:
            content = answer.raw.read(_MAX_ANSWER, decode_content=True) or b""
        except (OSError, HTTPError, requests.RequestException) as error:
            return Answer(Outcome.RETRY, _explain(error), is_reached=False)
    if 200 <= answer.status_code < 300:
        return _read_success(content, answer.headers.get("Content-Type", ""))
    return read_status(
        answer.status_code, answer.headers.get("Retry-After"), content.decode("utf-8", "replace")
    )


def _read_success(content: bytes, kind: str) -> Answer:
    try:
        if "json" in kind.lower():
            partial = json.loads(content or b"{}").get("partialSuccess") or {}
            return read_partial(int(partial.get("rejectedSpans", 0)), str(partial.get("errorMessage", "")))
        found = ExportTraceServiceResponse.FromString(content).partial_success
        return read_partial(found.rejected_spans, found.error_message)
    except (DecodeError, ValueError, TypeError, AttributeError):
        return Answer(
            Outcome.REFUSED, "200 with a body that is no OTLP answer: is the endpoint an OTLP/HTTP one?"
        )


def _explain(error: BaseException | None) -> str:
    """Give the innermost reason of a failed request."""
    if error is None:
        return "no answer"
    while error is not None and (error.__cause__ or error.__context__):
        error = error.__cause__ or error.__context__
    return f"{type(error).__name__}: {error}"[:200]
