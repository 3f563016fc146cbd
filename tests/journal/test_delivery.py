import json
from pathlib import Path

import pytest

from otel_trace.journal.delivery import (
    STATE_NAME,
    Delivery,
    is_of_another_version,
    read_delivery,
    write_delivery,
)

FULL = Delivery(
    endpoint="http://host:4318/v1/traces",
    is_reached=True,
    message="in the way",
    notice="given up",
    delivered=7,
    dropped={"rejected": 2},
    oversized=1,
    markers={"1-2": ["00000000000000aa"]},
    positions={"1-2": (3, 400)},
    cleared={"1-2": 3},
    open_in={"1-2": {1: 5}},
    finished=["9-9"],
)


def test_state_reads_back(tmp_path: Path) -> None:
    """What a shipper writes another process reads, and nobody else may."""
    assert write_delivery(tmp_path, FULL)
    assert FULL == read_delivery(tmp_path)
    assert 0o600 == (tmp_path / STATE_NAME).stat().st_mode & 0o777
    assert [STATE_NAME] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": 1, "positions": {"a": [1]}}', "{}"])
def test_state_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    """A state that is damaged is as none: everything is sent again rather than lost."""
    (tmp_path / STATE_NAME).write_text(text)
    assert None is read_delivery(tmp_path)
    assert not is_of_another_version(tmp_path)


def test_no_state_is_none(tmp_path: Path) -> None:
    """Before a shipper has been there, nothing is delivered."""
    assert None is read_delivery(tmp_path)


def test_state_of_another_version_is_told_apart(tmp_path: Path) -> None:
    """A shipper of another version is not mistaken for none: what it delivered is not sent again."""
    (tmp_path / STATE_NAME).write_text(json.dumps({"format": 2}))
    assert None is read_delivery(tmp_path)
    assert is_of_another_version(tmp_path)


def test_unknown_fields_are_passed_over(tmp_path: Path) -> None:
    """A field that a later version adds does not make the state unreadable."""
    (tmp_path / STATE_NAME).write_text(json.dumps({"format": 1, "delivered": 3, "later": 1}))
    assert Delivery(delivered=3) == read_delivery(tmp_path)


def test_failing_disk_leaves_the_state_as_it_was(tmp_path: Path) -> None:
    """What cannot be written changes nothing and raises nothing."""
    write_delivery(tmp_path, FULL)
    (tmp_path / f"{STATE_NAME}.{__import__('os').getpid()}").mkdir()
    assert not write_delivery(tmp_path, Delivery())
    assert FULL == read_delivery(tmp_path)
    assert not write_delivery(tmp_path / "gone", Delivery())


def test_drops_are_counted_by_reason() -> None:
    """Spans that were given up add up; none leave no entry."""
    delivery = Delivery()
    delivery.drop("rejected", 2)
    delivery.drop("rejected", 3)
    delivery.drop("refused", 0)
    assert {"rejected": 5} == delivery.dropped


def test_what_is_left_of_a_segment() -> None:
    """Of a segment that is done with only its open spans are undelivered; of others it is not known."""
    assert (5, 0, None, None) == (
        FULL.count_undelivered("1-2", 1),
        FULL.count_undelivered("1-2", 2),
        FULL.count_undelivered("1-2", 3),
        FULL.count_undelivered("other", 1),
    )
    assert [False, True, False] == [FULL.is_done_with("1-2", segment) for segment in (1, 2, 3)]


def test_processes_that_are_gone_are_forgotten() -> None:
    """Only processes with segments are kept."""
    delivery = Delivery(
        positions={"a": (1, 1), "b": (1, 1)}, cleared={"a": 1}, open_in={"a": {}}, finished=["a", "b"]
    )
    delivery.keep_only({"b"})
    assert Delivery(positions={"b": (1, 1)}, finished=["b"]) == delivery
