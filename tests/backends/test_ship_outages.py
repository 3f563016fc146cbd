"""Collectors, shippers and producers that are killed: nothing is lost, little is repeated, the ledger is exact.

Short by default; LONG_FAULTS=1 kills the Collector 20 times during 20,000 spans.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_trace.journal.spans import read_run
from otel_trace.ship.account import make_account
from otel_trace.ship.outbox import MAX_SPANS
from tests.backends.conftest import require_built
from tests.backends.servers import Jaeger, Tempo, find_free_ports
from tests.backends.shipping import (
    IS_LONG,
    Shipped,
    SyncCollector,
    count_repeated,
    end,
    list_lost,
    read_arrived,
)
from tests.ship.processes import end_shippers, find_shippers, wait_for

KILLS = 20 if IS_LONG else 3
STEPS = 200 if IS_LONG else 20  # of 50 spans, in 2 processes


@pytest.fixture
def shipped(tmp_path: Path) -> Iterator[Shipped]:
    """Return a run; at the end no shipper of it is left."""
    yield Shipped(tmp_path / "root")
    end_shippers(tmp_path / "root")


@pytest.fixture
def own_collector(jaeger: Jaeger, tempo: Tempo, tmp_path: Path) -> Iterator[SyncCollector]:
    """Return a Collector of this test's own that acknowledges what Jaeger and Tempo have taken."""
    require_built("otelcol")
    with SyncCollector(tmp_path / "collector", forward_to=(jaeger, tempo)) as server:
        yield server


def check_whole(shipped: Shipped, jaeger: Jaeger, tempo: Tempo, kills: int) -> None:
    """Check that nothing was lost, and that at most one request was repeated per kill."""
    spans = shipped.run.spans
    account = make_account(shipped.folder)
    assert (len(spans), len(spans), 0, {}) == (
        account.created,
        account.delivered,
        account.waiting,
        dict(account.dropped),
    )
    assert [] == list_lost(read_arrived(jaeger, spans), spans)
    in_tempo = read_arrived(tempo, spans)
    assert [] == list_lost(in_tempo, spans)
    assert kills * MAX_SPANS >= count_repeated(in_tempo, spans)


@pytest.mark.timeout(900)
def test_killed_collector_loses_nothing(
    shipped: Shipped, own_collector: SyncCollector, jaeger: Jaeger, tempo: Tempo
) -> None:
    """A Collector that is killed and comes back again and again during a run of 2 processes costs no span."""
    ranks = [
        shipped.start(
            "shipped_steps",
            STEPS,
            48,
            0.3,
            endpoint=own_collector.otlp_http,
            RANK=str(rank),
            WORLD_SIZE="2",
            LOCAL_RANK=str(rank),
            LOCAL_WORLD_SIZE="2",
        )
        for rank in range(2)
    ]
    for _ in range(KILLS):
        time.sleep(1.0)
        own_collector.kill()
        time.sleep(0.3)
        own_collector.start()
    assert [("True\n", "")] * 2 == end(*ranks)
    check_whole(shipped, jaeger, tempo, KILLS)


def test_endpoint_that_was_down_for_the_whole_run(shipped: Shipped, jaeger: Jaeger, tempo: Tempo) -> None:
    """Nobody at the endpoint during the run: `otel-trace ship` sends everything afterwards."""
    dead = f"http://127.0.0.1:{find_free_ports(1)[0]}"
    program = shipped.start("shipped_steps", 20, 50, 0.01, 0.5, endpoint=dead)
    ((said, told),) = end(program)
    assert ("False\n", 1) == (said, len(told.splitlines()))
    end_shippers(shipped.root)
    account = make_account(shipped.folder)
    assert (account.created, 0) == (account.waiting, account.delivered)
    assert 1 == shipped.ship(dead).returncode
    done = shipped.ship(jaeger.otlp_http)
    assert (0, "  nothing is left") == (done.returncode, done.stdout.splitlines()[-1])
    spans = shipped.run.spans
    assert [] == list_lost(read_arrived(jaeger, spans), spans)
    assert make_account(shipped.folder).is_balanced


def test_killed_shipper_repeats_at_most_one_request(shipped: Shipped, jaeger: Jaeger, tempo: Tempo) -> None:
    """A shipper that is killed during a run is replaced; nothing is lost, at most one request comes twice."""
    program = shipped.start("shipped_steps", 45, 50, 0.1, endpoint=tempo.otlp_http)
    (shipper,) = wait_for(lambda: find_shippers(shipped.root))
    time.sleep(1)
    os.kill(shipper, signal.SIGKILL)
    assert [("True\n", "")] == end(program)
    spans = shipped.run.spans
    arrived = read_arrived(tempo, spans)
    assert [] == list_lost(arrived, spans)
    assert MAX_SPANS >= count_repeated(arrived, spans)
    assert make_account(shipped.folder).is_balanced


def test_shipper_and_producer_killed_together(shipped: Shipped, jaeger: Jaeger, tempo: Tempo) -> None:
    """With both gone at once, what is in the journal is sent by hand; what was delivered is not sent again."""
    with shipped.start("shipped_steps", 100_000, 50, 0.01, endpoint=tempo.otlp_http) as program:
        (shipper,) = wait_for(lambda: find_shippers(shipped.root))
        wait_for(lambda: shipped.delivery.delivered > 0)
        os.kill(program.pid, signal.SIGKILL)
        os.kill(shipper, signal.SIGKILL)
        program.communicate()
    done = shipped.ship(tempo.otlp_http)
    assert (0, "  nothing is left") == (done.returncode, done.stdout.splitlines()[-1])
    spans = shipped.run.spans
    arrived = read_arrived(tempo, spans)
    assert [] == list_lost(arrived, spans)
    assert MAX_SPANS >= count_repeated(arrived, spans)
    assert make_account(shipped.folder).is_balanced


def test_two_runs_on_one_node(tmp_path: Path, jaeger: Jaeger) -> None:
    """Two runs at once have a shipper each, and neither takes the other's spans."""
    first, second = (Shipped(tmp_path / "root") for _ in range(2))
    programs = [
        run.start("shipped_steps", 10, 20, 0.05, endpoint=jaeger.otlp_http) for run in (first, second)
    ]
    assert wait_for(lambda: len(find_shippers(tmp_path / "root")) == 2)
    assert [("True\n", "")] * 2 == end(*programs)
    end_shippers(tmp_path / "root")
    for run in (first, second):
        folder = next((tmp_path / "root" / run.run_id).iterdir())
        account = make_account(folder)
        assert (220, 220, True) == (account.created, account.delivered, account.is_balanced)
        spans = read_run(folder).spans
        assert [] == list_lost(read_arrived(jaeger, spans), spans)


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_large_spans_arrive(
    shipped: Shipped, collector: SyncCollector, jaeger: Jaeger, protocol: str
) -> None:
    """Many spans of 10 KB, and one of 100 MB, cut, are in requests that every receiver takes."""
    endpoint = collector.otlp_grpc if protocol == "grpc" else collector.otlp_http
    number = 5000 if IS_LONG else 1000
    program = shipped.start("shipped_large", number, endpoint=endpoint, OTEL_EXPORTER_OTLP_PROTOCOL=protocol)
    assert [("True\n", "")] == end(program)
    spans = shipped.run.spans
    assert number + 1 == len(spans)
    assert [] == list_lost(read_arrived(jaeger, spans), spans)
    assert {} == shipped.delivery.dropped
