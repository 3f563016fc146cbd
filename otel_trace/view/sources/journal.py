"""A run read from the journals of its processes."""

from pathlib import Path

from otel_trace.errors import RunNotFound
from otel_trace.journal.runs import find_runs
from otel_trace.journal.spans import read_run
from otel_trace.view.model import Run, group_traces
from otel_trace.view.sources.choosing import choose_run

_SEGMENTS = "*.seg"


def open_journal(folder: Path) -> Run:
    """Read the run in a run's folder, or what one host has of it."""
    data = read_run(folder)
    return Run(
        run_id=folder.name,
        traces=group_traces(data.spans),
        processes=data.processes,
        damage=data.damage,
        ledger=data.ledger,
        source=str(folder),
    )


def find_newest(root: Path) -> Path:
    """Return the folder of the run below `root` that was written last."""
    runs = find_runs(root)
    if not runs:
        raise RunNotFound(f"no runs in {root}; run a program that uses otel_trace, or name a run's folder")
    return runs[0].path


def find_by_id(root: Path, wanted: str) -> Path:
    """Return the folder of the run below `root` that has this id, or one that begins so."""
    runs = {run.run_id: run.path for run in find_runs(root)}
    return runs[choose_run(wanted, list(runs), str(root))]


def find_at(path: Path, wanted: str | None = None) -> Path:
    """Return the run's folder that a path leads to: its own, a host's in it, a segment's, or a folder of runs."""
    if path.is_file():
        return path.absolute().parent.parent
    if any(path.glob(_SEGMENTS)):
        return path.absolute().parent
    if any(path.glob(f"*/{_SEGMENTS}")):
        return path.absolute()
    return find_newest(path.absolute()) if wanted is None else find_by_id(path.absolute(), wanted)
