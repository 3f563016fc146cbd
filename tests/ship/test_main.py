import fcntl
import json
import os
import threading
import time
from pathlib import Path

import pytest

from otel_trace.journal.delivery import LOCK_NAME, STATE_NAME, read_delivery
from otel_trace.ship import main as main_module, shipper as shipper_module
from otel_trace.ship.main import log_line, run, take_lock
from tests.journal.factories import fill_with
from tests.ship.factories import list_numbers
from tests.ship.fakes import HttpFake


@pytest.fixture
def folder(tmp_path: Path, http_fake: HttpFake, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a run that has ended, with an endpoint in the environment."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", http_fake.url)
    monkeypatch.setattr(shipper_module, "_GRACE", 0)
    monkeypatch.setattr(main_module, "_PATIENCE", 0.2)
    fill_with(tmp_path, 3)
    return tmp_path


def test_run_is_shipped_and_the_lock_let_go(folder: Path, http_fake: HttpFake) -> None:
    """A shipper holds the lock while it is at work, and not longer."""
    assert 0 == run(folder)
    assert [1, 2, 3] == list_numbers(*http_fake.bodies)
    lock = take_lock(folder, patience=0)
    assert lock is not None
    os.close(lock)


def test_second_shipper_leaves_at_once(folder: Path, http_fake: HttpFake) -> None:
    """Where another shipper is at work there is nothing to do."""
    lock = take_lock(folder)
    assert lock is not None
    assert (0, []) == (run(folder), http_fake.bodies)
    os.close(lock)


def test_producer_that_looks_does_not_chase_the_shipper_away(folder: Path, http_fake: HttpFake) -> None:
    """A lock that somebody has only for a moment is waited for."""
    held = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT)
    fcntl.flock(held, fcntl.LOCK_EX)
    release = threading.Timer(0.1, os.close, (held,))
    release.start()
    assert 0 == run(folder)
    release.join()
    assert 3 == len(list_numbers(*http_fake.bodies))


def test_state_of_another_version_is_left_to_it(
    folder: Path, http_fake: HttpFake, capsys: pytest.CaptureFixture[str]
) -> None:
    """What another version has delivered is not sent again from the beginning: one line, and nothing is touched."""
    state = folder / STATE_NAME
    state.write_text(json.dumps({"format": 99}))
    assert (1, []) == (run(folder), http_fake.bodies)
    assert (
        f"{state} is of another version of otel_trace, which has to go on with it\n"
        in capsys.readouterr().err
    )
    assert {"format": 99} == json.loads(state.read_text())


def test_damaged_state_is_begun_anew(folder: Path, http_fake: HttpFake) -> None:
    """A state that cannot be read costs repetition, not loss."""
    (folder / STATE_NAME).write_text("{")
    assert 0 == run(folder)
    delivery = read_delivery(folder)
    assert delivery is not None
    assert (3, 3) == (delivery.delivered, len(list_numbers(*http_fake.bodies)))


def test_lock_is_no_link(tmp_path: Path) -> None:
    """A symbolic link in the place of the lock is not followed."""
    (tmp_path / LOCK_NAME).symlink_to(tmp_path / "elsewhere")
    assert None is take_lock(tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_log_has_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    """Each line of the log begins with when it was written."""
    log_line("something")
    written = capsys.readouterr().err
    assert " something\n" == written[19:]
    assert abs(time.time() - time.mktime(time.strptime(written[:19], "%Y-%m-%dT%H:%M:%S"))) < 5
