import os
import time
from pathlib import Path

import pytest

from otel_trace.cluster.process import ProcessKey
from otel_trace.ship.listing import Listing


def test_processes_of_the_segments(tmp_path: Path) -> None:
    """Each process with a segment is named once; other files are passed over."""
    for name in ("2-7-000001.seg", "2-7-000002.seg", "1-5-000001.seg", "shipper.json"):
        (tmp_path / name).touch()
    assert [ProcessKey(1, 5), ProcessKey(2, 7)] == Listing(tmp_path).read()


def test_new_process_is_seen_at_once(tmp_path: Path) -> None:
    """A segment that comes within the same tick of the clock is not missed."""
    listing = Listing(tmp_path)
    for number in range(1, 20):
        (tmp_path / f"{number}-1-000001.seg").touch()
        assert number == len(listing.read())


def test_folder_that_does_not_change_is_not_listed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With thousands of ended workers in it, looking costs one question to the system."""
    (tmp_path / "1-5-000001.seg").touch()
    os.utime(tmp_path, (time.time() - 60, time.time() - 60))
    listing = Listing(tmp_path)
    listing.read()
    monkeypatch.setattr(Path, "iterdir", None)
    assert [ProcessKey(1, 5)] == listing.read()


def test_folder_that_is_gone_has_no_processes(tmp_path: Path) -> None:
    """A folder that somebody removed is empty."""
    assert [] == Listing(tmp_path / "gone").read()
