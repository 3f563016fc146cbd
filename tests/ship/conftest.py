"""Endpoints that behave as a test wants, and the environment that leads to them."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from otel_trace.ship.grpc import GrpcSender
from otel_trace.ship.http import HttpSender
from tests.ship.fakes import GrpcFake, HttpFake, run_grpc, run_http
from tests.ship.journals import Run


@pytest.fixture(autouse=True)
def restored_environment() -> Iterator[None]:
    """Take back what a sender makes plain in the environment of its process."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(autouse=True)
def memory_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a shipper in the tests' process not mind what the other tests there have loaded."""
    monkeypatch.setattr("otel_trace.ship.shipper._MAX_MEMORY", 2**40)


@pytest.fixture
def http_fake() -> Iterator[HttpFake]:
    """Give an HTTP endpoint."""
    with run_http() as fake:
        yield fake


@pytest.fixture
def grpc_fake() -> Iterator[GrpcFake]:
    """Give a gRPC endpoint."""
    with run_grpc() as fake:
        yield fake


@pytest.fixture
def make_http(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., HttpSender]]:
    """Return a function that makes an HTTP sender to a URL, with settings; it is closed at the end."""
    made: list[HttpSender] = []

    def make(url: str, **settings: str) -> HttpSender:
        for name, text in {"ENDPOINT": url, **settings}.items():
            monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", text)
        made.append(HttpSender())
        return made[-1]

    yield make
    for sender in made:
        sender.close()


@pytest.fixture
def make_grpc(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., GrpcSender]]:
    """Return a function that makes a gRPC sender to a URL, with settings; it is closed at the end."""
    made: list[GrpcSender] = []

    def make(url: str, **settings: str) -> GrpcSender:
        for name, text in {"ENDPOINT": url, "PROTOCOL": "grpc", **settings}.items():
            monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", text)
        made.append(GrpcSender())
        return made[-1]

    yield make
    for sender in made:
        sender.close()


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Give a run with one process that writes."""
    made = Run(tmp_path)
    yield made
    made.clean()
