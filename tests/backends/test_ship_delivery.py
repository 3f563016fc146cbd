"""What a program emits arrives at real servers, by every way that the environment can ask for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_trace.ship.account import make_account
from tests.backends.servers import Collector, Jaeger, Server, Tempo
from tests.backends.shipping import Shipped, end, list_lost, read_arrived
from tests.ship.processes import end_shippers

PROTOCOLS = ["http/protobuf", "grpc"]


@pytest.fixture
def shipped(tmp_path: Path) -> Iterator[Shipped]:
    """Return a run; at the end no shipper of it is left."""
    yield Shipped(tmp_path / "root")
    end_shippers(tmp_path / "root")


def endpoint_of(server: Server, protocol: str) -> str:
    """Return a server's endpoint for a protocol."""
    return server.otlp_grpc if protocol == "grpc" else server.otlp_http


def deliver(shipped: Shipped, server: Server, protocol: str, **variables: str) -> None:
    """Run a program of 3 steps with 40 spans each whose spans go to a server; all must be acknowledged."""
    program = shipped.start(
        "shipped_steps",
        3,
        40,
        0,
        endpoint=endpoint_of(server, protocol),
        OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
        **variables,
    )
    assert [("True\n", "")] == end(program)
    account = make_account(shipped.folder)
    assert (126, 126, 0, True) == (account.created, account.delivered, account.waiting, account.is_balanced)


def check_arrived(shipped: Shipped, *backends: Jaeger | Tempo) -> None:
    """Check that each span of the run is in each backend, once."""
    spans = shipped.run.spans
    for backend in backends:
        arrived = read_arrived(backend, spans)
        assert ([], {1}) == (list_lost(arrived, spans), set(arrived.values())), backend.name


@pytest.fixture(params=["jaeger", "tempo", "late_tempo"], scope="session")
def backend(request: pytest.FixtureRequest) -> Jaeger | Tempo:
    """Return each of the backends in turn."""
    server: Jaeger | Tempo = request.getfixturevalue(request.param)
    return server


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_backends_get_every_span_once(shipped: Shipped, backend: Jaeger | Tempo, protocol: str) -> None:
    """Jaeger and Tempo, in both configurations, have every span once, by HTTP and gRPC."""
    deliver(shipped, backend, protocol)
    check_arrived(shipped, backend)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_collector_sends_on_to_both(
    shipped: Shipped, collector: Collector, jaeger: Jaeger, tempo: Tempo, protocol: str, compression: str
) -> None:
    """Through a Collector both backends have every span once, compressed or not."""
    deliver(shipped, collector, protocol, OTEL_EXPORTER_OTLP_COMPRESSION=compression)
    check_arrived(shipped, jaeger, tempo)


def test_values_arrive_as_they_are_in_the_journal(shipped: Shipped, jaeger: Jaeger, tempo: Tempo) -> None:
    """Names, times, ids, parameters, results and the resource are the same in both backends and the journal."""
    deliver(shipped, jaeger, "grpc")
    assert 0 == shipped.ship(tempo.otlp_http).returncode  # delivered before: nothing is sent again
    (first, *_) = shipped.run.spans
    assert [] == tempo.traces().read(first.trace_id)
    stored = {span.span_id: span for span in jaeger.traces().read(first.trace_id)}
    for span in shipped.run.spans:
        if span.trace_id == first.trace_id:
            found = stored[span.span_id]
            assert (span.name, span.parent_id or "", span.start_ns, span.end_ns, span.attributes) == (
                found.name,
                found.parent_id,
                found.start_ns,
                found.end_ns,
                found.attributes,
            )
            assert ("train.py", shipped.run_id) == (
                found.resource["service.name"],
                found.resource["training.run_id"],
            )


def test_one_variable_is_enough(shipped: Shipped, jaeger: Jaeger) -> None:
    """The endpoint's base URL alone leads to delivery, over HTTP."""
    deliver(shipped, jaeger, "")
    check_arrived(shipped, jaeger)


def test_endpoint_that_is_of_the_other_protocol_is_told(shipped: Shipped, jaeger: Jaeger) -> None:
    """HTTP spoken to a gRPC port: nothing is lost, and the line names the endpoint."""
    program = shipped.start("shipped_steps", 1, 5, 0.5, endpoint=jaeger.otlp_grpc, OTELTRACE_SHIPPER="off")
    end(program)
    done = shipped.ship(jaeger.otlp_grpc)
    assert 1 == done.returncode
    assert f"{jaeger.otlp_grpc}/v1/traces" in done.stdout
    assert "7 spans stay in" in done.stdout
    done = shipped.ship(jaeger.otlp_grpc, OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
    assert (0, "  nothing is left") == (done.returncode, done.stdout.splitlines()[-1])
    check_arrived(shipped, jaeger)
