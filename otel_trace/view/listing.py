"""The runs of a place, this machine's or a backend's, as a table and as plain data."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otel_trace.journal.runs import RunFolder
from otel_trace.view.plain import clean_text
from otel_trace.view.sources.backend import RemoteRun
from otel_trace.view.table import lay_out_table
from otel_trace.view.units import format_moment, format_size

_HEAD = ("run", "last written", "processes", "size", "state", "host")
_REMOTE_HEAD = ("run", "last seen", "service")


@dataclass(frozen=True, slots=True)
class Listing:
    """The runs of one place: a table with its head, and the same as data."""

    place: str
    table: Sequence[Sequence[str]]
    data: dict[str, Any]


def draw_listing(listing: Listing, *, width: int) -> Iterator[str]:
    """Yield the lines of a listing, one sentence where there is nothing to list."""
    if len(listing.table) > 1:
        yield from lay_out_table(listing.table, width=width, num_left=len(listing.table[0]))
    else:
        yield f"No runs in {listing.place}."


def list_folders(root: Path, runs: Sequence[RunFolder], *, zone: dt.tzinfo | None = None) -> Listing:
    """Return the listing of the journals below `root`, without reading what is in them."""
    table = [_HEAD, *(_list_cells(run, zone) for run in runs)]
    return Listing(str(root), table, {"root": str(root), "runs": [_describe_run(run) for run in runs]})


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


def list_remote(place: str, runs: Sequence[RemoteRun], *, zone: dt.tzinfo | None = None) -> Listing:
    """Return the listing of the runs that a backend has seen."""
    table = [
        _REMOTE_HEAD,
        *((clean_text(run.run_id, 200), format_moment(run.newest_ns, zone=zone), _say(run)) for run in runs),
    ]
    return Listing(place, table, {"place": place, "runs": [_describe_remote(run) for run in runs]})


def _say(run: RemoteRun) -> str:
    return clean_text(", ".join(run.services))


def _describe_remote(run: RemoteRun) -> dict[str, Any]:
    return {"run_id": run.run_id, "newest_ns": run.newest_ns, "services": list(run.services)}
