"""The servers as fixtures, started once for all tests of a session.

A server that is not built skips its tests with the reason; under CI it fails them.
"""

import os
from collections.abc import Iterator

import pytest

from tests.backends.install import find_binary
from tests.backends.servers import Collector, Jaeger, Tempo


def require_built(name: str) -> None:
    """Skip the test when a server is not built; fail it under CI."""
    if find_binary(name) is not None:
        return
    miss(f"{name} is not built: run make backends")


def miss(reason: str) -> None:
    """Skip a test that lacks something of the machine; fail it under CI."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def jaeger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jaeger]:
    """Return a running Jaeger with memory storage."""
    require_built("jaeger")
    with Jaeger(tmp_path_factory.mktemp("jaeger")) as server:
        yield server


@pytest.fixture(scope="session")
def tempo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tempo]:
    """Return a running Tempo with the usual configuration."""
    require_built("tempo")
    with Tempo(tmp_path_factory.mktemp("tempo")) as server:
        yield server


@pytest.fixture(scope="session")
def late_tempo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tempo]:
    """Return a running Tempo that takes data days after it was made."""
    require_built("tempo")
    with Tempo(tmp_path_factory.mktemp("late-tempo"), late_data=True) as server:
        yield server


@pytest.fixture(scope="session")
def collector(jaeger: Jaeger, tempo: Tempo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """Return a running Collector that sends on to the running Jaeger and Tempo."""
    require_built("otelcol")
    with Collector(tmp_path_factory.mktemp("collector"), forward_to=(jaeger, tempo)) as server:
        yield server
