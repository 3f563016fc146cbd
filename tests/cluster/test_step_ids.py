from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from hypothesis import given, strategies as st

from otel_trace.cluster import run as run_module
from otel_trace.cluster.rank import Place
from otel_trace.cluster.run import Run, StepIds, step_ids

if TYPE_CHECKING:
    import pytest

RUN = Run("run", Place("torchrun", rank=0, world_size=2))


def at_rank(run: Run, rank: int) -> Run:
    """Give the run as another of its ranks sees it."""
    return replace(run, place=replace(run.place, rank=rank))


@given(st.text(), st.integers(0, 3), st.text(), st.integers(), st.integers(0, 3))
def test_ids_are_valid(run_id: str, attempt: int, loop: str, step: int, opened: int) -> None:
    """No id is zero, a trace id has 32 digits and the first is not 0, a span id fits in 64 bits."""
    run = Run(run_id, Place(world_size=2, attempt=attempt))
    ids = step_ids(run, loop, step, opened)
    assert 2**124 <= ids.trace_id < 2**128
    assert 0 < ids.root_id < 2**64
    assert 0 < ids.rank_id < 2**64
    assert ids.root_id != ids.rank_id


def test_no_id_is_zero_even_if_the_hash_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash of nothing but zeros still makes ids that the backends take."""
    monkeypatch.setattr(run_module, "_hash", lambda _, size: bytes(size))
    assert StepIds(0x10 << 120, 1, 1) == step_ids(RUN, "train", 0, 0)


def test_all_ranks_are_in_one_trace_below_one_root() -> None:
    """Trace and root are the same on every rank, the rank's own span is another on each."""
    all_ids = [step_ids(at_rank(RUN, rank), "train", 7, 0) for rank in range(100)]
    assert 1 == len({(ids.trace_id, ids.root_id) for ids in all_ids})
    assert 100 == len({ids.rank_id for ids in all_ids} - {all_ids[0].root_id})


def test_one_process_alone_has_the_root_for_its_rank() -> None:
    """There is no level of ranks where there is one process."""
    ids = step_ids(Run("run", Place()), "train", 0, 0)
    assert ids.root_id == ids.rank_id


def test_every_step_has_a_trace_of_its_own() -> None:
    """Another run, branch, attempt, loop, step or opening is another trace, with other spans."""
    all_ids = [
        step_ids(Run(run_id, Place(attempt=attempt), branch), loop, step, opened)
        for run_id, branch, attempt, loop, step, opened in product(
            ("a", "b"), ("", "/1-1"), (0, 1), ("train", "eval", "1\0", "1"), range(30), range(3)
        )
    ]
    assert len(all_ids) == len({ids.trace_id for ids in all_ids}) == len({ids.root_id for ids in all_ids})


def test_the_low_bits_of_a_trace_id_are_uniform() -> None:
    """A sampler that looks at the low 64 bits, or at the low 56, keeps the share it was told to keep."""
    low = [step_ids(RUN, "train", step, 0).trace_id % 2**64 for step in range(4000)]
    for num_bits in (64, 56):
        share = sum(number % 2**num_bits < 2**num_bits // 4 for number in low) / len(low)
        assert 0.22 < share < 0.28
    for bit in range(64):
        assert 0.45 < sum(number >> bit & 1 for number in low) / len(low) < 0.55


def test_ids_stay_what_they_are() -> None:
    """Ids are the same in every version, or ranks and restarts with another one would not meet."""
    expected = StepIds(0xEE3CD5313DD0CA16230E5F4CD4CAB5F4, 0x66569E1E2EFB3FCC, 0x63EECD956AFF2523)
    assert expected == step_ids(RUN, "train", 7, 0)
