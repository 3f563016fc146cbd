"""The examples run as their first lines say, and their run can be read back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from otel_trace.view import open_run

EXAMPLES = Path(__file__).parents[2] / "examples"
LAUNCH = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")


def run_example(name: str) -> str:
    """Run an example on 2 ranks and return what it printed; complain with all it said when it fails."""
    finished = subprocess.run(
        [sys.executable, *LAUNCH, str(EXAMPLES / name)],
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_stays_short(path: Path) -> None:
    """An example has under 60 lines, so that it is read."""
    assert len(path.read_text().splitlines()) < 60


def test_training_on_two_ranks_is_read_back_step_by_step() -> None:
    """Each of the 20 steps is one trace that holds both ranks, with the stages of each."""
    pytest.importorskip("torch")
    losses = [float(line.split()[-1]) for line in run_example("01_train.py").splitlines()]
    assert losses[-1] < losses[0]

    steps = [trace for trace in open_run().traces if trace.step is not None]
    assert list(range(20)) == [trace.step for trace in steps]
    of_a_rank = ["backward", "data", "forward", "make_batch", "optimizer"]
    for trace in steps:
        names = Counter(span.name.rpartition(".")[2] for span in trace.spans)
        expected = Counter([*of_a_rank, *of_a_rank, "step", "rank 0", "rank 1"])
        assert expected == names
        assert not any(span.is_open for span in trace.spans)
