"""A run read from its folder: the journals of all its processes, joined into spans.

A span that has a start and no end is open; whether its process lives says if it is still running or was
interrupted. A folder may be read while it is written: what is complete is found, what is being written is not
taken for damage.
"""

import contextlib
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from otel_trace.cluster.process import ProcessKey, host_name, is_alive
from otel_trace.journal.bound import parse_name
from otel_trace.journal.join import Joiner
from otel_trace.journal.ledger import GONE_DELIVERED, count_dropped, merge_tallies
from otel_trace.journal.reader import SegmentData, read_segment
from otel_trace.journal.span_data import EventData, LinkData, ProcessData, RunData, SpanData

__all__ = ["EventData", "LinkData", "ProcessData", "RunData", "SpanData", "read_run"]

_Owner = tuple[str, ProcessKey]


def read_run(folder: Path) -> RunData:
    """Read the journals of a run from its folder, or from one host's folder in it."""
    run = RunData()
    with _fewer_collections():
        for owner, paths in _group_by_process(folder).items():
            _read_process(owner, paths, run)
    run.ledger["journal"] = len(run.spans)
    run.ledger["created"] = len(run.spans) + run.ledger[GONE_DELIVERED] + count_dropped(run.ledger)
    return run


@contextlib.contextmanager
def _fewer_collections() -> Iterator[None]:
    """Do not look for garbage while only lasting objects are made: the time would grow with their number."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _group_by_process(folder: Path) -> dict[_Owner, list[Path]]:
    groups: dict[_Owner, list[tuple[int, Path]]] = {}
    for path in [*folder.glob("*.seg"), *folder.glob("*/*.seg")]:
        parsed = parse_name(path.name)
        if parsed:
            groups.setdefault((path.parent.name, parsed[0]), []).append((parsed[1], path))
    return {owner: [path for _, path in sorted(paths)] for owner, paths in sorted(groups.items(), key=str)}


def _read_process(owner: _Owner, paths: list[Path], run: RunData) -> None:
    host, key = owner
    # Asked before reading: a process that ends meanwhile has open spans of which the end was not yet read.
    is_live = host == host_name() and is_alive(key)
    segments = [segment for path in paths if (segment := read_segment(path, run.damage, is_live=is_live))]
    if not segments:
        return
    header = next((segment.header for segment in segments if segment.header), {})
    process = ProcessData(
        key=f"{host}/{key}",
        pid=key.pid,
        is_alive=is_live,
        host=host,
        run_id=str(header.get("run_id", "")),
        resource=_read_resource(header),
    )
    run.processes.append(process)
    joiner = Joiner(process, run.damage)
    _join(joiner, segments, run)


def _read_resource(header: dict[str, Any]) -> dict[str, Any]:
    resource = header.get("resource")
    return resource if isinstance(resource, dict) else {}


def _join(joiner: Joiner, segments: list[SegmentData], run: RunData) -> None:
    for segment in segments:
        joiner.add_segment(segment)
    run.spans += joiner.finish()
    run.ledger.update(merge_tallies(joiner.tallies))
    if joiner.missing_starts:
        run.ledger["damaged"] += joiner.missing_starts
