from pathlib import Path

import pytest

from otel_trace.cluster.process import ProcessKey, host_name
from otel_trace.ship import shipper as shipper_module
from otel_trace.ship.main import take_lock
from otel_trace.ship.service import Service, ship_rest
from tests.journal.factories import fill_with
from tests.ship.factories import UNREACHED, TellingSender


def make_run(root: Path, name: str, number: int = 3) -> Path:
    """Write the journal of a process that has ended; return its folder."""
    folder = root / name / host_name()
    folder.mkdir(parents=True, exist_ok=True)
    fill_with(folder, number, key=ProcessKey(999_999_000 + len(list(folder.iterdir())), 7))
    return folder


def test_runs_are_taken_up_as_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is over is let go, and taken up again when there is something new in it."""
    monkeypatch.setattr(shipper_module, "_GRACE", 0)
    folder = make_run(tmp_path, "a")
    service = Service(tmp_path, sender := TellingSender(), lambda _: None)

    def turn() -> None:
        for _ in range(6):
            service._look_at = 0
            service.turn()

    turn()
    assert (3, {}) == (len(sender.delivered), service._busy)
    turn()
    make_run(tmp_path, "b", 2)
    make_run(tmp_path, "a", 4)
    turn()
    assert (9, {}) == (len(sender.delivered), service._busy)
    lock = take_lock(folder, patience=0)
    assert lock is not None
    __import__("os").close(lock)
    service.close()


def test_run_of_another_shipper_is_left_alone(tmp_path: Path) -> None:
    """A folder whose lock somebody has is not shipped a second time."""
    folder = make_run(tmp_path, "a")
    lock = take_lock(folder)
    assert lock is not None
    service = Service(tmp_path, sender := TellingSender(), lambda _: None)
    service.turn()
    __import__("os").close(lock)
    assert [] == sender.asked
    service._look_at = 0
    service.turn()
    service.close()
    assert 3 == len(sender.delivered)


def test_what_an_endpoint_does_not_take_in_time_stays(tmp_path: Path) -> None:
    """Sending the rest ends when the patience does; the next time goes on."""
    folder = make_run(tmp_path, "a")
    shipment = ship_rest(folder, TellingSender(lambda _: UNREACHED), lambda _: None, patience=0.3)
    assert (0, 3, False) == (shipment.delivered, shipment.waiting, shipment.is_busy)
    shipment = ship_rest(folder, TellingSender(), lambda _: None)
    assert (3, 0) == (shipment.delivered, shipment.waiting)
