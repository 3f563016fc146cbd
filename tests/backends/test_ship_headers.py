"""Headers of the environment, against a server that refuses whoever does not send them."""

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.conftest import require_built
from tests.backends.servers import Tempo
from tests.backends.shipping import Shipped, end
from tests.ship.processes import wait_for

TENANT = "X-Scope-OrgID"


class TenantTempo(Tempo):
    """A Tempo that keeps tenants apart: without their header nothing is taken and nothing is told."""

    def _render_config(self) -> str:
        return f"{super()._render_config()}\nmultitenancy_enabled: true\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TenantTempo]:
    """Return a running Tempo with tenants."""
    require_built("tempo")
    with TenantTempo(tmp_path_factory.mktemp("tenants")) as tempo:
        yield tempo


def count_spans(server: TenantTempo, trace_id: str, tenant: str) -> int:
    """Return how many spans of a trace a tenant has."""
    url = f"http://127.0.0.1:{server.port['query']}/api/v2/traces/{trace_id}"
    with urllib.request.urlopen(urllib.request.Request(url, headers={TENANT: tenant}), timeout=10) as answer:
        found = json.loads(answer.read() or b"{}").get("trace", {}).get("resourceSpans", [])
    return sum(len(scope["spans"]) for group in found for scope in group["scopeSpans"])


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_headers_open_the_door(server: TenantTempo, tmp_path: Path, protocol: str) -> None:
    """Without the header nothing is taken and everything stays; with it everything arrives where it belongs."""
    shipped = Shipped(tmp_path / "root")
    end(shipped.start("shipped_steps", 1, 5, 0, endpoint="", OTELTRACE_SHIPPER="off"))
    endpoint = server.otlp_grpc if protocol == "grpc" else server.otlp_http
    way = {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
    done = shipped.ship(endpoint, **way)
    assert 1 == done.returncode
    assert "7 spans stay in" in done.stdout
    done = shipped.ship(endpoint, OTEL_EXPORTER_OTLP_HEADERS=f"{TENANT.lower()}=team-a", **way)
    assert (0, "  nothing is left") == (done.returncode, done.stdout.splitlines()[-1])
    trace_id = shipped.run.spans[0].trace_id
    assert wait_for(lambda: count_spans(server, trace_id, "team-a") == 7)
    assert 0 == count_spans(server, trace_id, "team-b")
