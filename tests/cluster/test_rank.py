from __future__ import annotations

from typing import Any

import pytest

from otel_trace.cluster.rank import Place, find_place

TORCHRUN = {
    "RANK": "3",
    "WORLD_SIZE": "8",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "2",
    "GROUP_RANK": "1",
    "TORCHELASTIC_RUN_ID": "none",
    "TORCHELASTIC_RESTART_COUNT": "2",
}


@pytest.mark.parametrize(
    ("expected", "environ"),
    [
        (Place(), {}),
        (Place("torchrun", 3, 8, 1, 2, 1, 2), TORCHRUN),
        (Place("env", 3, 8), {"RANK": "3", "WORLD_SIZE": "8"}),
        (
            Place("env", 3, 8, 1, 4, 2),
            {**TORCHRUN, "TORCHELASTIC_RUN_ID": "", "LOCAL_WORLD_SIZE": "4", "NODE_RANK": "2"},
        ),
        (Place("env", 0, 1), {"RANK": " 0 "}),
    ],
)
def test_a_launcher_tells_a_process_its_place(expected: Place, environ: dict[str, str]) -> None:
    """The first launcher whose variables are there is believed; without one a process is alone."""
    assert expected == find_place(environ)


@pytest.mark.parametrize(
    "text", ["", " ", "gold", "-1", "1.5", "0x1", "²", "1_000", "9" * 5000, "\ud800", "1\n2"]
)
@pytest.mark.parametrize("name", sorted(TORCHRUN))
def test_a_bad_number_is_as_good_as_none(name: str, text: str) -> None:
    """Whatever stands in a variable, there is a place, and it is possible."""
    place = find_place({**TORCHRUN, name: text})
    assert 0 <= place.rank < place.world_size
    assert 1 <= place.local_world_size
    assert min(place.local_rank, place.node_rank, place.attempt) >= 0


def test_a_process_is_never_beyond_its_world() -> None:
    """A rank without a world size, or beyond it, makes the world as large as it must be."""
    assert Place("env", 3, 4) == find_place({"RANK": "3"})
    assert Place("env", 3, 4) == find_place({"RANK": "3", "WORLD_SIZE": "2"})


def test_the_environment_of_a_place_is_not_shown() -> None:
    """An environment holds secrets: it is not part of how a place prints or compares."""
    environ: dict[str, Any] = {**TORCHRUN, "TOKEN": "secret"}
    assert "secret" not in repr(find_place(environ))
