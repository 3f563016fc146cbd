import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from otel_trace.cluster.process import this_process
from otel_trace.emit.delivered import find_end, is_delivered, wait_at_exit, wait_until_delivered
from otel_trace.journal.delivery import Delivery, write_delivery
from tests.emit.programs import REPOSITORY, run_program
from tests.journal.factories import write_spans, writing
from tests.ship.fakes import Reply, find_closed_port, run_black_hole, run_http, run_tcp, stay_silent
from tests.ship.processes import end_shippers, read_only_delivery, wait_for

PROGRAM = """
import json, sys, time
import otel_trace as ot

@ot.traced
def work(x):
    return x

ot.configure()
for number in range(50):
    work(number)
time.sleep({seconds})
sys.stdout.write(str(time.time()))
sys.stdout.flush()
"""


@pytest.fixture
def root() -> Iterator[Path]:
    """Return the root of the journals; at the end no shipper below it is left."""
    folder = Path(os.environ["OTELTRACE_DIR"])
    yield folder
    end_shippers(folder)


def measure_exit(seconds: float, **environ: str) -> tuple[float, str]:
    """Run a program; return how long it took from its last line to its end, and what it said on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(seconds=seconds)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return time.time() - float(done.stdout), done.stderr


@contextlib.contextmanager
def refuse() -> Iterator[str]:
    """Give the URL of a port on which nobody listens."""
    yield f"http://127.0.0.1:{find_closed_port()}"


@contextlib.contextmanager
def be_busy() -> Iterator[str]:
    """Give an endpoint that answers 503."""
    with run_http() as fake:
        fake.replies = [Reply(503)]
        yield fake.url


MOODS = {
    "refused": refuse,
    "black hole": run_black_hole,
    "hanging": lambda: run_tcp(stay_silent),
    "503": be_busy,
}


@pytest.mark.parametrize(
    ("mood", "seconds"), [*((mood, 0) for mood in MOODS), ("refused", 1.5), ("hanging", 1.5)]
)
def test_exit_is_not_held_up(root: Path, mood: str, seconds: float) -> None:
    """With an endpoint that does not take spans, a program ends at most 0.5 s later than without us."""
    alone = min(measure_exit(0, OTEL_SDK_DISABLED="true")[0] for _ in range(2))
    with MOODS[mood]() as url:
        settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_TIMEOUT": "3"}
        tries = (measure_exit(seconds, **settings)[0] - alone for _ in range(3))
        assert any(took < 0.5 for took in tries)  # a machine that is busy with other things gets another try
        end_shippers(root)
    delivery = read_only_delivery(root)
    assert delivery is None or (0, {}) == (delivery.delivered, delivery.dropped)


def test_what_stands_in_the_way_is_told_at_exit(root: Path) -> None:
    """One line says which endpoint does not answer, and that nothing is lost."""
    url = f"http://127.0.0.1:{find_closed_port()}"
    _, told = measure_exit(1, OTEL_EXPORTER_OTLP_ENDPOINT=url)
    assert (
        f"otel_trace: {url}/v1/traces does not answer: ConnectionRefusedError: [Errno 111] Connection refused; "
        "spans stay in the journal until it takes them\n"
    ) == told


@pytest.mark.parametrize("seconds", [0, 1], ids=["short", "long"])
def test_all_is_delivered_soon_after_the_end(root: Path, seconds: float) -> None:
    """With an endpoint that is up, everything has arrived within 2 s of the program's end."""
    with run_http() as fake:
        took, told = measure_exit(seconds, OTEL_EXPORTER_OTLP_ENDPOINT=fake.url)
        ended = time.monotonic()
        assert wait_for(lambda: (found := read_only_delivery(root)) and found.delivered == 50, 5)
        assert (True, "") == (time.monotonic() - ended < 2, told)
        assert 1 > took


def test_flush_is_true_only_when_acknowledged(root: Path) -> None:
    """`flush()` is true once the backend has everything, false when the time is over before."""
    code = """
import json, otel_trace as ot
from opentelemetry import trace
ot.configure()
with ot.span("a"):
    pass
first = ot.flush({seconds})
with ot.span("b"):
    pass
print(json.dumps([first, trace.get_tracer_provider().force_flush(int(1000 * {seconds}))]))
"""
    with run_http() as fake:
        assert [True, True] == run_program(
            code.format(seconds=10), OTEL_EXPORTER_OTLP_ENDPOINT=fake.url
        ).printed
        found = read_only_delivery(root)
        assert found is not None
        assert 2 == found.delivered
        end_shippers(root)
    begin = time.monotonic()
    url = f"http://127.0.0.1:{find_closed_port()}"
    assert [False, False] == run_program(code.format(seconds=0.3), OTEL_EXPORTER_OTLP_ENDPOINT=url).printed
    assert 4 > time.monotonic() - begin


def test_end_of_a_closed_journal(tmp_path: Path) -> None:
    """Where a process's journal ends is its last segment and its length; without one there is nothing to wait for."""
    assert None is find_end(tmp_path)
    with writing(tmp_path) as writer:
        write_spans(writer, 3000)
    newest = max(tmp_path.glob("*.seg"))
    assert (int(newest.stem[-6:]), newest.stat().st_size) == find_end(tmp_path)


@pytest.mark.parametrize(
    ("delivery", "expected"),
    [
        (Delivery(), False),
        (Delivery(positions={str(this_process()): (2, 99)}), False),
        (Delivery(positions={str(this_process()): (2, 100)}), True),
        (Delivery(positions={str(this_process()): (3, 1)}), True),
        (Delivery(positions={"1-1": (9, 9)}), False),
        (Delivery(finished=[str(this_process())]), True),
    ],
)
def test_place_decides_what_is_delivered(delivery: Delivery, *, expected: bool) -> None:
    """What lies before the place that was reached is delivered."""
    assert expected == is_delivered(delivery, (2, 100))


def test_waiting_goes_on_while_there_is_progress(tmp_path: Path) -> None:
    """At the end a shipper that goes on gets time; one that stands still does not."""
    with writing(tmp_path) as writer:
        write_spans(writer, 3)
    begin = time.monotonic()
    wait_at_exit(tmp_path)
    assert 0.35 < time.monotonic() - begin < 0.6

    steps = iter(range(1, 1000))
    moments: list[float] = []

    def progress(pause: float) -> None:
        moments.append(pause)
        if len(moments) % 10 == 0 and len(moments) <= 60:
            write_delivery(tmp_path, Delivery(is_reached=True, delivered=next(steps)))
        real_sleep(pause)

    real_sleep = time.sleep
    begin = time.monotonic()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("otel_trace.emit.delivered.time.sleep", progress)
        wait_at_exit(tmp_path)
    assert 1.2 < time.monotonic() - begin < 3


def test_flush_pokes_whoever_should_ship(tmp_path: Path) -> None:
    """Waiting asks once a second that a shipper is there, and ends with the time."""
    poked: list[float] = []
    poke: Callable[[], None] = lambda: poked.append(time.monotonic())  # noqa: E731 (one line)
    assert not wait_until_delivered(tmp_path, (1, 1), 1.3, poke)
    assert 2 == len(poked)
    assert not wait_until_delivered(tmp_path, (1, 1), 0, poke)
