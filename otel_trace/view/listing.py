"""The runs of a machine as a table or as plain data, without reading what is in them."""

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from otel_trace.journal.runs import RunFolder
from otel_trace.view.plain import clean_text
from otel_trace.view.table import lay_out_table
from otel_trace.view.units import format_moment, format_size

_HEAD = ("run", "last written", "processes", "size", "state", "host")


def list_runs(runs: Sequence[RunFolder], *, width: int, zone: dt.tzinfo | None = None) -> Iterator[str]:
    """Yield the lines of the table of runs."""
    yield from lay_out_table(
        [_HEAD, *(_list_cells(run, zone) for run in runs)], width=width, num_left=len(_HEAD)
    )


def _list_cells(run: RunFolder, zone: dt.tzinfo | None) -> tuple[str, ...]:
    hosts = clean_text(run.hosts[0]) if len(run.hosts) == 1 else f"{len(run.hosts):,} hosts"
    return (
        clean_text(run.run_id, 200),
        format_moment(run.newest_ns, zone=zone),
        f"{len(run.processes):,}",
        format_size(run.num_bytes),
        _say_state(run),
        hosts,
    )


def _say_state(run: RunFolder) -> str:
    return "running" if run.is_alive else "ended"


def describe_runs(root: Path, runs: Sequence[RunFolder]) -> dict[str, Any]:
    """Return the runs below `root` as plain data."""
    return {"root": str(root), "runs": [_describe_run(run) for run in runs]}


def _describe_run(run: RunFolder) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "path": str(run.path),
        "newest_ns": run.newest_ns,
        "num_bytes": run.num_bytes,
        "hosts": run.hosts,
        "num_processes": len(run.processes),
        "is_alive": run.is_alive,
    }
