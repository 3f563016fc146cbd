import json
import os
from pathlib import Path

import pytest

from otel_trace.cluster.process import host_name
from otel_trace.journal.place import journal_root
from tests.cli.running import Result, run_command
from tests.view.journals import START_NS, write_run


@pytest.fixture
def root() -> Path:
    """Give the folder of all runs of this test."""
    return journal_root()


def run(*args: str) -> Result:
    """Run `otel-trace runs` in this process."""
    return run_command("runs", *args)


def test_runs_are_listed_newest_first(root: Path) -> None:
    """Each run has a line: id, when, how many processes, how large, whether it goes on, where."""
    write_run(root, "run-old", age_s=60)
    write_run(root, "run-new")
    result = run()
    head, *lines = result.stdout.splitlines()
    assert (0, "run last written processes size state host") == (result.exit_code, " ".join(head.split()))
    assert ["run-new", "run-old"] == [line.split()[0] for line in lines]
    assert ["running", host_name()] == lines[0].split()[-2:]


def test_a_run_whose_process_is_gone_has_ended(root: Path) -> None:
    """A run is running only while one of its processes lives."""
    segment = next(write_run(root, "run-a").rglob("*.seg"))
    segment.rename(segment.with_name(f"{os.getpid()}-1-000001.seg"))
    assert "ended" in run().stdout


def test_no_runs_is_a_sentence(root: Path) -> None:
    """Where there is nothing, the place that was looked at is named."""
    result = run()
    assert (0, f"No runs in {root}.\n") == (result.exit_code, result.stdout)


def test_json_is_one_object(root: Path) -> None:
    """For machines the list is one JSON object."""
    folder = write_run(root, "run-a")
    data = json.loads(run("--json").stdout)
    (found,) = data.pop("runs")
    assert {"root": str(root)} == data
    assert found.pop("num_bytes") > 0
    assert {
        "run_id": "run-a",
        "path": str(folder),
        "newest_ns": START_NS,
        "hosts": [host_name()],
        "num_processes": 1,
        "is_alive": True,
    } == found
