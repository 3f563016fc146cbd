"""Send spans to a real backend, and wait until it shows them."""

import contextlib
import json
import time
import urllib.request
from collections.abc import Callable, Iterable

from otel_trace.errors import RunNotFound
from otel_trace.journal.span_data import SpanData
from otel_trace.view import Run, open_run
from tests.view.otlp import make_request


def send_spans(endpoint: str, spans: Iterable[SpanData]) -> None:
    """Send spans in one request, as OTLP JSON."""
    request = urllib.request.Request(
        f"{endpoint}/v1/traces",
        data=json.dumps(make_request(spans)).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert b"rejected" not in answer.read()


def wait_for_run(url: str, run_id: str, is_there: Callable[[Run], bool], *, seconds: float = 30.0) -> Run:
    """Open a run as soon as it shows what is waited for; what there is when the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(RunNotFound):
            run = open_run(url, run=run_id)
            if is_there(run) or time.monotonic() > deadline:
                return run
        assert time.monotonic() < deadline, f"{url} does not show the run {run_id}"
        time.sleep(0.2)
