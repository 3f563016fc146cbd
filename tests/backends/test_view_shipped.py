"""The whole road: a program's journal, our shipper, a real backend, and the same run read back."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from otel_trace.view import Run, open_run
from tests.backends.servers import Jaeger, Tempo
from tests.view.programs import REPOSITORY, describe_run, record_run, start_rank
from tests.view.sending import wait_for_run

Backend = Jaeger | Tempo


@pytest.fixture(params=["jaeger", "tempo"], scope="session")
def backend(request: pytest.FixtureRequest) -> Backend:
    """Return each of the backends in turn."""
    server: Backend = request.getfixturevalue(request.param)
    return server


def start_shipper(run: Run, backend: Backend) -> subprocess.Popen[bytes]:
    """Start a shipper for what this host has of a run."""
    return subprocess.Popen(
        [sys.executable, "-m", "otel_trace.ship.main", str(Path(run.source) / run.processes[0].host)],
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "OTEL_EXPORTER_OTLP_ENDPOINT": backend.otlp_http,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        },
        stderr=subprocess.PIPE,
    )


def check_shipped(shipper: subprocess.Popen[bytes]) -> None:
    """Wait for a shipper to end well; its own words say what it did not like."""
    with shipper:
        _, words = shipper.communicate(timeout=60)
    assert 0 == shipper.returncode, words.decode()


def test_a_shipped_run_is_the_journals(backend: Backend, tmp_path: Path) -> None:
    """What two ranks recorded, one of them killed, comes back through the shipper as it stands in the journal."""
    run = record_run(tmp_path)
    check_shipped(start_shipper(run, backend))
    found = wait_for_run(backend.traces().url, run.run_id, lambda found: len(found.spans) >= len(run.spans))
    assert describe_run(run) == describe_run(found)


def test_a_shipped_open_span_is_open(backend: Backend, tmp_path: Path) -> None:
    """What a rank does for long is open in the backend's run while it does it, and interrupted when it has died."""
    run_id = f"view-{uuid.uuid4()}"
    url = backend.traces().url
    with start_rank(1, tmp_path, run_id, "stay") as program:
        assert program.stdout is not None
        program.stdout.readline()
        alive = open_run(tmp_path, run=run_id)
        shipper = start_shipper(alive, backend)
        try:
            found = wait_for_run(url, run_id, lambda run: len(run.spans) >= len(alive.spans))
        finally:
            program.communicate()
            check_shipped(shipper)
    assert describe_run(alive) == describe_run(found)
    dead = wait_for_run(url, run_id, lambda run: any(span.is_interrupted for span in run.spans))
    assert describe_run(open_run(tmp_path, run=run_id)) == describe_run(dead)
