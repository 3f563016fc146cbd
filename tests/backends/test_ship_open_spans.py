"""What hangs or was killed is seen in both backends: a marker after 5 s, its end as an error within 10 s."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_trace.ship.account import make_account
from otel_trace.ship.markers import marker_id
from tests.backends.query import StoredSpan
from tests.backends.servers import Collector, Jaeger, Tempo
from tests.backends.shipping import IS_LONG, Shipped, list_lost, read_arrived, wait_for_ids
from tests.ship.processes import end_shippers, wait_for

ERROR = 2


@pytest.fixture
def shipped(tmp_path: Path) -> Iterator[Shipped]:
    """Return a run; at the end no shipper of it is left."""
    yield Shipped(tmp_path / "root")
    end_shippers(tmp_path / "root")


def wait_for_spans(shipped: Shipped, number: int) -> None:
    """Wait until the journal of a run has so many spans."""
    assert wait_for(lambda: any(shipped.root.glob("*/*/*.seg")) and len(shipped.run.spans) >= number)


def by_name(spans: list[StoredSpan]) -> dict[str, StoredSpan]:
    """Return spans by their names."""
    return {span.name: span for span in spans}


def test_hang_is_seen_and_then_the_kill(
    shipped: Shipped, collector: Collector, jaeger: Jaeger, tempo: Tempo
) -> None:
    """Of a program that hangs, a chain of markers is in Jaeger and Tempo; once it is killed, its spans are errors."""
    program = shipped.start("shipped_hang", 60, endpoint=collector.otlp_http)
    wait_for_spans(shipped, 4)
    spans = {span.name: span for span in shipped.run.spans}
    trace_id = spans["step"].trace_id
    markers = {marker_id(spans[name].span_id) for name in ("step", "data", "load")}
    begin = time.monotonic()
    for backend in (jaeger, tempo):
        found = by_name(wait_for_ids(backend.traces(), trace_id, markers))
        assert {"warm", "step (open)", "data (open)", "load (open)"} == set(found)
        load = found["load (open)"]
        assert (True, "shard-7") == (load.attributes["otel_trace.open"], load.attributes["param.path"])
        chain = [found[f"{name} (open)"].parent_id for name in ("step", "data", "load")]
        ids = [spans["step"].span_id, *(marker_id(spans[name].span_id) for name in ("step", "data"))]
        assert ids == chain
        assert spans["load"].span_id in {link.span_id for link in load.links}
    assert 4 < time.monotonic() - begin < 8
    program.send_signal(signal.SIGKILL)
    program.communicate()
    killed_at = time.monotonic()
    ids_of_all = {span.span_id for span in spans.values()}
    for backend in (jaeger, tempo):
        found = by_name(wait_for_ids(backend.traces(), trace_id, ids_of_all))
        for name in ("step", "data", "load"):
            assert (ERROR, "the process ended before the span did") == (
                found[name].status,
                found[name].status_message,
            )
            assert True is found[name].attributes["otel_trace.interrupted"]
        assert spans["data"].span_id == found["load"].parent_id
    assert 10 > time.monotonic() - killed_at
    assert wait_for(lambda: shipped.delivery.finished)
    assert make_account(shipped.folder).is_balanced
    assert (4, []) == (shipped.delivery.delivered, list(shipped.delivery.markers.values()))


@pytest.mark.timeout(1200)
def test_killed_producers_lose_nothing(shipped: Shipped, jaeger: Jaeger) -> None:
    """However often a producer is killed, every span that ended is in the backend, the open ones as interrupted."""
    for _ in range(100 if IS_LONG else 4):
        with shipped.start("shipped_steps", 100_000, 20, 0.005, endpoint=jaeger.otlp_http) as program:
            time.sleep(0.7)
            os.kill(program.pid, signal.SIGKILL)
            program.communicate()
    killed_at = time.monotonic()

    def is_settled() -> bool:
        account = make_account(shipped.folder)
        return account.is_balanced and not account.waiting

    assert wait_for(is_settled, 10)
    assert 10 > time.monotonic() - killed_at
    spans = shipped.run.spans
    arrived = read_arrived(jaeger, spans)
    assert [] == list_lost(arrived, spans)
    assert 100 < len(spans) == shipped.delivery.delivered
