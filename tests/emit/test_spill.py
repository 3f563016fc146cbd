"""A journal in a job's scratch folder outlives the job where the user says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_trace.journal.runs import find_runs
from otel_trace.journal.spans import read_run
from tests.ship.factories import list_numbers
from tests.ship.fakes import run_http
from tests.ship.processes import end_shippers

from .programs import run_program

if TYPE_CHECKING:
    from pathlib import Path

WORK = """
import os
import otel_trace as ot

@ot.traced
def work(): ...

work()
"""


def test_journal_moves_out_of_scratch(tmp_path: Path) -> None:
    """At the end the journal is in `OTELTRACE_SPILL_DIR`, with that of a child that was killed, and not in scratch."""
    scratch, kept = tmp_path / "scratch", tmp_path / "kept"
    scratch.mkdir()
    killed = "if os.fork() == 0:\n    work()\n    os.kill(os.getpid(), 9)\nos.wait()\n"
    outcome = run_program(
        WORK + killed, OTELTRACE_DIR="", SLURM_TMPDIR=str(scratch), OTELTRACE_SPILL_DIR=str(kept)
    )
    (run,) = find_runs(kept)
    assert ["work", "work"] == [span.name for span in read_run(run.path).spans]
    assert ([], "") == (list(scratch.rglob("*.seg")), outcome.stderr)


def test_journal_that_goes_with_the_job_is_told(tmp_path: Path) -> None:
    """Without `OTELTRACE_SPILL_DIR` one line says what goes, and what to do."""
    outcome = run_program(WORK, OTELTRACE_DIR="", SLURM_TMPDIR=str(tmp_path))
    assert 1 == outcome.stderr.count("\n")
    assert "go with the job; set OTELTRACE_SPILL_DIR to keep them" in outcome.stderr
    assert 1 == len(list(tmp_path.rglob("*.seg")))


def test_journal_that_cannot_be_saved_is_told(tmp_path: Path) -> None:
    """A folder that cannot be made costs one line, and the journal stays in scratch."""
    (tmp_path / "file").touch()
    outcome = run_program(
        WORK,
        OTELTRACE_DIR="",
        SLURM_TMPDIR=str(tmp_path),
        OTELTRACE_SPILL_DIR=str(tmp_path / "file"),
        OTELTRACE_STRICT="",
    )
    assert "saving the journal from the job's scratch folder failed" in outcome.stderr
    assert 1 == len(list(tmp_path.rglob("*.seg")))


def test_what_was_delivered_does_not_go_with_the_job(tmp_path: Path) -> None:
    """With a backend that has everything, nothing is moved and nothing is told to be lost."""
    with run_http() as fake:
        outcome = run_program(
            WORK, OTELTRACE_DIR="", SLURM_TMPDIR=str(tmp_path), OTEL_EXPORTER_OTLP_ENDPOINT=fake.url
        )
        end_shippers(tmp_path)
    assert ("", 1) == (outcome.stderr, len(list_numbers(*fake.bodies)))


def test_rest_of_a_delivery_goes_on_from_its_place(tmp_path: Path) -> None:
    """What moves out of scratch is sent later, without what had been delivered before."""
    scratch, kept = tmp_path / "scratch", tmp_path / "kept"
    scratch.mkdir()
    with run_http() as fake:
        run_program(
            WORK + "ot.flush()\nwith ot.span('open'):\n    ot.shutdown()\n    os._exit(0)",
            OTELTRACE_DIR="",
            SLURM_TMPDIR=str(scratch),
            OTELTRACE_SPILL_DIR=str(kept),
            OTEL_EXPORTER_OTLP_ENDPOINT=fake.url,
        )
        end_shippers(scratch)
        run_program(
            "from otel_trace.journal.spill import save_from_scratch\n"
            "from otel_trace.cluster.process import host_name\n"
            "import os, pathlib\n"
            "(run,) = pathlib.Path(os.environ['SLURM_TMPDIR'], 'otel_trace').iterdir()\n"
            "save_from_scratch(run.name, host_name())",
            OTELTRACE_DIR="",
            SLURM_TMPDIR=str(scratch),
            OTELTRACE_SPILL_DIR=str(kept),
        )
        before = list_numbers(*fake.bodies)
        run_program(
            f"from otel_trace.cli.main import main\nmain(['ship', {str(kept)!r}], standalone_mode=False)\n"
            "print('[]')",
            OTEL_EXPORTER_OTLP_ENDPOINT=fake.url,
        )
    after = list_numbers(*fake.bodies)[len(before) :]
    assert (1, 1) == (len(before), len(after))
    assert set(before).isdisjoint(after)
