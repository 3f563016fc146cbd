from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_trace.cluster.process import host_name
from otel_trace.journal import spill
from otel_trace.journal.spans import read_run
from otel_trace.journal.spill import save_from_scratch
from tests.journal.factories import KIB, bury, die, fill_with, make_writer, messages, write_spans

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder of a run in a job's scratch, which is to be kept elsewhere."""
    monkeypatch.delenv("OTELTRACE_DIR")
    monkeypatch.setenv("SLURM_TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setenv("OTELTRACE_SPILL_DIR", str(tmp_path / "kept"))
    folder = tmp_path / "scratch" / "otel_trace" / "run-a" / host_name()
    folder.mkdir(parents=True)
    return folder


def test_killed_segment_is_moved_without_its_unused_part(tmp_path: Path, folder: Path) -> None:
    """What a killed worker had allocated is not copied, and all of its spans are there."""
    fill_with(folder, 3, close=False)
    assert 1 == save_from_scratch("run-a", host_name())
    assert [] == list(folder.iterdir())
    (path,) = (tmp_path / "kept" / "run-a" / host_name()).iterdir()
    assert 4 * KIB >= path.stat().st_size
    assert 3 == len(read_run(tmp_path / "kept" / "run-a").spans)


def test_segment_that_another_process_moved_is_passed_over(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes that end at once move what is left, without an error."""
    writer = make_writer(folder)
    for _ in range(2):
        write_spans(writer, 2)
        die(writer)
        writer._number = 1
    paths = bury(folder)
    real = spill._move

    def move_after_another(source: Path, target: Path) -> bool:
        paths[1].unlink(missing_ok=True)
        return real(source, target)

    monkeypatch.setattr(spill, "_move", move_after_another)
    assert 1 == save_from_scratch("run-a", host_name())
    assert [paths[0].name] == [path.name for path in (tmp_path / "kept" / "run-a" / host_name()).iterdir()]


def test_bytes_that_go_with_the_job_are_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The line says how much is really there."""
    monkeypatch.delenv("OTELTRACE_SPILL_DIR")
    path = fill_with(folder, 3, close=False)
    assert 0 == save_from_scratch("run-a", host_name())
    told = f"{path.stat().st_size} bytes of spans in {folder} go with the job"
    assert [f"otel_trace: {told}; set OTELTRACE_SPILL_DIR to keep them"] == messages(caplog)
