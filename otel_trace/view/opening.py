"""Find the run that a person means and read it.

A target is nothing (the newest run of this machine), a run id or its unique beginning, or a path: a run's folder, the
folder of one host in it, a single segment, or a folder of runs. Sources that are read over the network come here too.
"""

import re
from pathlib import Path

from otel_trace.errors import RunNotFound
from otel_trace.journal.place import journal_root
from otel_trace.journal.runs import RunFolder, find_runs
from otel_trace.journal.spans import read_run
from otel_trace.view.model import Run, group_traces
from otel_trace.view.plain import clean_text

_URL = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*://")
_SOURCES = (
    "the newest run (no argument), a run id or its beginning, a run's folder, a folder of runs, a .seg file"
)
_SEGMENTS = "*.seg"
_MAX_NAMED = 5


def open_run(target: str | Path | None = None) -> Run:
    """Return the run that `target` names: a run id, a path, or None for the newest run on this machine."""
    folder = find_folder(target)
    data = read_run(folder)
    return Run(
        run_id=folder.name,
        traces=group_traces(data.spans),
        processes=data.processes,
        damage=data.damage,
        ledger=data.ledger,
        source=str(folder),
    )


def find_folder(target: str | Path | None = None) -> Path:
    """Return the folder of the run that `target` names."""
    if target is None:
        return _find_newest(journal_root())
    if isinstance(target, str) and _URL.match(target):
        message = f"{clean_text(target, 200)!r} is a URL, which is not yet supported; what can be opened: {_SOURCES}"
        raise RunNotFound(message)
    runs = find_runs(journal_root()) if isinstance(target, str) else []
    exact = [run.path for run in runs if run.run_id == target]
    if exact:
        return exact[0]
    path = _find_path(target)
    return _find_at(path) if path else _find_beginning(str(target), runs)


def _find_path(target: str | Path) -> Path | None:
    """Return the path that a target is, None where there is nothing of that name."""
    if not str(target):
        return None
    try:
        path = Path(target).expanduser()
        return path if path.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _find_newest(root: Path) -> Path:
    runs = find_runs(root)
    if not runs:
        message = f"no runs in {root}; run a program that uses otel_trace, or name a run's folder"
        raise RunNotFound(message)
    return runs[0].path


def _find_at(path: Path) -> Path:
    if path.is_file():
        if path.suffix != ".seg":
            message = f"{str(path)!r} is not a journal; what can be opened: {_SOURCES}"
            raise RunNotFound(message)
        return path.absolute().parent.parent
    if any(path.glob(_SEGMENTS)):
        return path.absolute().parent
    if any(path.glob(f"*/{_SEGMENTS}")):
        return path.absolute()
    return _find_newest(path.absolute())


def _find_beginning(target: str, runs: list[RunFolder]) -> Path:
    found = [run for run in runs if target and run.run_id.startswith(target)]
    if len(found) == 1:
        return found[0].path
    name = repr(clean_text(target, 200))
    if found:
        message = f"{name} begins {len(found)} runs: {_name_some(found)}; give more of the id"
    elif runs:
        message = f"no run {name} in {journal_root()}; runs there: {_name_some(runs)}"
    else:
        message = f"no run {name}: there are no runs in {journal_root()}"
    raise RunNotFound(message)


def _name_some(runs: list[RunFolder]) -> str:
    text = ", ".join(clean_text(run.run_id) for run in runs[:_MAX_NAMED])
    more = len(runs) - _MAX_NAMED
    return f"{text} and {more} more" if more > 0 else text
