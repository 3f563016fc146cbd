"""The processes of a run, told apart by what their spans' resources say.

Whether a process of another machine lives cannot be asked: `is_alive` is False until `open_spans` finds one still open.
"""

from collections.abc import Iterable
from typing import Any

from otel_trace import names
from otel_trace.journal.span_data import ProcessData
from otel_trace.view.facts import get_rank

# All of them: a launcher may give every rank the same instance id, and what is found in a backend may be of many runs.
_IDENTITY = (
    names.RUN_ID,
    names.ATTEMPT,
    "service.name",
    "service.instance.id",
    "host.name",
    "process.pid",
    names.RANK,
)


def find_process(resource: dict[str, Any], known: dict[str, ProcessData]) -> ProcessData:
    """Return the process that a resource describes, one of the known if it is there."""
    key = "/".join(str(resource[name]) for name in _IDENTITY if name in resource)
    if key not in known:
        known[key] = _make_process(key, resource)
    return known[key]


def _make_process(key: str, resource: dict[str, Any]) -> ProcessData:
    pid = resource.get("process.pid")
    return ProcessData(
        key=key,
        pid=pid if isinstance(pid, int) else 0,
        is_alive=False,
        host=str(resource.get("host.name", "")),
        run_id=str(resource.get(names.RUN_ID, "")),
        resource=resource,
    )


def order_processes(processes: Iterable[ProcessData]) -> list[ProcessData]:
    """Return processes rank by rank, those without a rank last."""
    return sorted(processes, key=_get_order)


def _get_order(process: ProcessData) -> tuple[bool, int, str, int]:
    rank = get_rank(process)
    return (rank is None, rank or 0, process.host, process.pid)
