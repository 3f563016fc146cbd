"""What becomes of a journal in a folder that goes away with its job: it is moved where the user says, or told."""

import contextlib
import importlib
import os
from collections.abc import Mapping
from pathlib import Path

from otel_trace import config
from otel_trace._guard import tell_once
from otel_trace.cluster.process import is_alive, this_process
from otel_trace.journal.bound import parse_name
from otel_trace.journal.delivery import Delivery, read_delivery, write_delivery
from otel_trace.journal.place import journal_root, open_place
from otel_trace.journal.trim import cut_to_length


def is_job_scoped(environ: Mapping[str, str] = os.environ) -> bool:
    """Say whether the journals stand in a scratch folder that the scheduler deletes at the end of the job."""
    return not config.read("OTELTRACE_DIR", environ) and bool(environ.get("SLURM_TMPDIR"))


def save_from_scratch(run_id: str, host: str) -> int:
    """Move this process's segments, and those of processes that have died, out of a job's scratch.

    Gives the number of segments moved. Without `OTELTRACE_SPILL_DIR` nothing is moved and one line says so.
    """
    source = journal_root() / run_id / host
    if not is_job_scoped() or not source.is_dir():
        return 0
    delivery = read_delivery(source) or Delivery()
    segments = [
        path for path in sorted(source.iterdir()) if _is_ended(path) and not _is_delivered(path, delivery)
    ]
    for path in segments:
        with contextlib.suppress(OSError):
            cut_to_length(path)
    told = config.read("OTELTRACE_SPILL_DIR")
    if segments and not told:
        num_bytes = sum(path.stat().st_size for path in segments if path.exists())
        tell_once(
            "spill",
            f"{num_bytes} bytes of spans in {source} go with the job; set OTELTRACE_SPILL_DIR to keep them",
        )
    if not segments or not told:
        return 0
    target = open_place(Path(told).expanduser().absolute(), run_id, host).folder
    number = sum(_move(path, target / path.name) for path in segments)
    if delivery.positions:
        _move_place(target, delivery)
    return number


def _is_ended(path: Path) -> bool:
    parsed = parse_name(path.name)
    return parsed is not None and (parsed[0] == this_process() or not is_alive(parsed[0]))


def _is_delivered(path: Path, delivery: Delivery) -> bool:
    """Say whether nothing of a segment is left to be sent."""
    parsed = parse_name(path.name)
    if parsed is None:
        return True
    key, number = str(parsed[0]), parsed[1]
    if delivery.count_undelivered(key, number) == 0:
        return True
    is_read = delivery.positions.get(key, (0, 0)) >= (number, path.stat().st_size)
    return is_read and number not in delivery.open_in.get(key, {number: 1})


def _move_place(target: Path, delivery: Delivery) -> None:
    """Let whoever sends the moved segments go on where the shipper stood."""
    moved = read_delivery(target) or Delivery()
    for name in ("positions", "cleared", "open_in"):
        getattr(moved, name).update(getattr(delivery, name))
    write_delivery(target, moved)


def _move(source: Path, target: Path) -> bool:
    """Move a file to another file system so that it is never there by half; False if another process was faster."""
    partial = target.with_suffix(f".{os.getpid()}.part")
    try:
        importlib.import_module("shutil").copyfile(source, partial)
    except FileNotFoundError:
        return False
    partial.chmod(0o600)
    partial.replace(target)
    source.unlink(missing_ok=True)
    return True
