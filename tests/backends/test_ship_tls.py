"""TLS and mutual TLS to a real Collector; where the stock exporters fall back, nothing is sent."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.certificates import make_certificates
from tests.backends.conftest import miss, require_built
from tests.backends.servers import Collector, Jaeger
from tests.backends.shipping import Shipped, end, list_lost, read_arrived
from tests.ship.processes import end_shippers

PROTOCOLS = ["http/protobuf", "grpc"]


class TlsCollector(Collector):
    """A Collector that speaks TLS only."""

    ports = ("otlp_grpc", "otlp_http", "mutual_grpc", "mutual_http", "counters", "ready")
    config = "otelcol-tls.yaml"

    def find_endpoint(self, protocol: str, *, is_mutual: bool) -> str:
        """Return the endpoint for a protocol, with or without the client's certificate."""
        way = "mutual" if is_mutual else "otlp"
        return f"https://127.0.0.1:{self.port[f'{way}_grpc' if protocol == 'grpc' else f'{way}_http']}"


@pytest.fixture(scope="module")
def server(jaeger: Jaeger, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsCollector]:
    """Return a Collector with certificates of this test's own authority, that sends on to Jaeger."""
    require_built("otelcol")
    if shutil.which("openssl") is None:
        miss("there is no openssl here to make certificates with")
    folder = tmp_path_factory.mktemp("tls")
    make_certificates(folder)
    with TlsCollector(folder, forward_to=(jaeger,)) as collector:
        yield collector


@pytest.fixture
def shipped(server: TlsCollector, tmp_path: Path) -> Iterator[Shipped]:
    """Return a run with 7 spans that nobody has shipped yet."""
    run = Shipped(tmp_path / "root")
    end(run.start("shipped_steps", 1, 5, 0, endpoint="", OTELTRACE_SHIPPER="off"))
    yield run
    end_shippers(run.root)


def settings(server: TlsCollector, protocol: str, **files: str) -> dict[str, str]:
    """Return the variables that name the protocol and the files."""
    names = {f"OTEL_EXPORTER_OTLP_{name}": str(server.folder / file) for name, file in files.items()}
    return {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol, **names}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("is_mutual", [False, True], ids=["tls", "mutual"])
def test_spans_arrive_over_tls(
    shipped: Shipped, server: TlsCollector, jaeger: Jaeger, protocol: str, *, is_mutual: bool
) -> None:
    """With the authority, and the client's certificate where it is asked for, every span arrives."""
    files = {"CERTIFICATE": "ca.pem"}
    if is_mutual:
        files |= {"CLIENT_CERTIFICATE": "client.pem", "CLIENT_KEY": "client.key"}
    endpoint = server.find_endpoint(protocol, is_mutual=is_mutual)
    done = shipped.ship(endpoint, **settings(server, protocol, **files))
    assert (0, "") == (done.returncode, done.stderr)
    spans = shipped.run.spans
    assert [] == list_lost(read_arrived(jaeger, spans), spans)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("files", "is_mutual"),
    [({}, False), ({"CERTIFICATE": "other-ca.pem"}, False), ({"CERTIFICATE": "ca.pem"}, True)],
    ids=["no authority", "wrong authority", "no client certificate"],
)
def test_nothing_goes_to_whom_is_not_trusted(
    shipped: Shipped, server: TlsCollector, files: dict[str, str], protocol: str, *, is_mutual: bool
) -> None:
    """Without the right certificates on either side nothing is sent, and the spans stay."""
    before = server.count_received_spans()
    endpoint = server.find_endpoint(protocol, is_mutual=is_mutual)
    done = shipped.ship(endpoint, **settings(server, protocol, **files))
    assert 1 == done.returncode
    assert f"7 spans stay in {shipped.folder}: https://127.0.0.1:" in done.stdout
    assert before == server.count_received_spans()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"CERTIFICATE": "gone.pem"}, "gone.pem cannot be read (No such file or directory)"),
        (
            {"CERTIFICATE": "ca.pem", "CLIENT_KEY": "client.key"},
            "OTEL_EXPORTER_OTLP_CLIENT_KEY is set and OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE is not: set both",
        ),
        (
            {"CERTIFICATE": "ca.pem", "CLIENT_CERTIFICATE": "gone.pem", "CLIENT_KEY": "client.key"},
            "gone.pem cannot be read (No such file or directory)",
        ),
    ],
    ids=["missing authority", "key alone", "missing certificate"],
)
def test_less_than_was_asked_for_is_refused(
    shipped: Shipped, server: TlsCollector, files: dict[str, str], words: str, protocol: str
) -> None:
    """Where the stock exporter would go on with less, one line says what is wrong, and the spans stay."""
    before = server.count_received_spans()
    endpoint = server.find_endpoint(protocol, is_mutual=False)
    done = shipped.ship(endpoint, **settings(server, protocol, **files))
    assert 1 == done.returncode
    assert words in done.stdout
    assert f"7 spans stay in {shipped.folder}" in done.stdout
    assert before == server.count_received_spans()
