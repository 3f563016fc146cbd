"""Find the run that a person means and read it.

A target is nothing (the newest run of this machine), a run id or its unique beginning, a path (a run's folder, the
folder of one host in it, a single segment, a folder of runs, a file of OTLP JSON), or the URL of a Jaeger or Tempo.
"""

import re
from pathlib import Path

from otel_trace.journal.place import journal_root
from otel_trace.journal.runs import find_runs
from otel_trace.view.model import Run
from otel_trace.view.sources.journal import find_at, find_by_id, find_newest, open_journal
from otel_trace.view.sources.otlp_file import open_otlp_file

_URL = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*://")


def open_run(target: str | Path | None = None, *, run: str | None = None, step: int | None = None) -> Run:
    """Return the run that `target` names: a run id, a path, a URL, or None for the newest run on this machine.

    Where the target holds several runs, `run` chooses one by its id; without it, it is the newest. Of a run that a
    backend has too much of, the newest traces are read, or those of `step`; the run's `notes` say so.

    >>> from otel_trace.view import open_run
    >>> newest = open_run("http://localhost:16686")  # doctest: +SKIP
    """
    if isinstance(target, str) and _URL.match(target):
        # Nobody who reads a journal loads an HTTP client.
        from otel_trace.view.sources.remote import open_remote  # noqa: PLC0415

        return open_remote(target, run, step)
    path = _find_path(target, run)
    return open_otlp_file(path, run) if path.is_file() else open_journal(path)


def _find_path(target: str | Path | None, run: str | None) -> Path:
    """Return the run's folder or the OTLP file that is meant."""
    root = journal_root()
    if target is None:
        return find_newest(root) if run is None else find_by_id(root, run)
    if isinstance(target, str) and any(known.run_id == target for known in find_runs(root)):
        return find_by_id(root, target)
    path = _find_existing(target)
    if path is None:
        return find_by_id(root, str(target))
    return path if path.is_file() and path.suffix != ".seg" else find_at(path, run)


def _find_existing(target: str | Path) -> Path | None:
    """Return the path that a target is, None where there is nothing of that name."""
    if not str(target):
        return None
    try:
        path = Path(target).expanduser()
        return path if path.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None
