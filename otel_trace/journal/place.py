"""Where journals stand on this machine, and that the place is safely ours.

`OTELTRACE_DIR`, else the job's node-local scratch, else the user's state folder unless that is on a network
file system, else the temporary folder with the user's id. Below it: one folder per run, in it one per host.
Folders are 0700 and files 0600 unless `OTELTRACE_GROUP` names a group that may read them. Symbolic links
and folders of other users are refused.
"""

import grp
import importlib
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from otel_trace import config
from otel_trace.errors import FolderRefused
from otel_trace.journal.file_system import NETWORK, find_file_system, may_map

_MiB = 2**20
_MAX_BOUND = 1024 * _MiB
_MAX_MEMORY_BOUND = 64 * _MiB
_MIN_BOUND = 2 * _MiB
_MAX_SEGMENT = 8 * _MiB
_MIN_SEGMENT = 1 * _MiB


@dataclass(frozen=True)
class Place:
    """A folder for segments, and how they may be written there."""

    folder: Path
    is_mapped: bool
    max_bytes: int
    segment_bytes: int
    file_mode: int = 0o600


def journal_root(
    environ: Mapping[str, str] = os.environ, find_kind: Callable[[Path], str] = find_file_system
) -> Path:
    """Give the folder that holds the journals of all runs; it need not exist yet."""
    told = config.read("OTELTRACE_DIR", environ)
    if told:
        return Path(told).expanduser().absolute()
    if environ.get("SLURM_TMPDIR"):
        return Path(environ["SLURM_TMPDIR"]) / "otel_trace"
    state = _state_folder(environ)
    if state is not None and find_kind(state) not in NETWORK:
        return state / "otel_trace"
    return Path(importlib.import_module("tempfile").gettempdir()) / f"otel_trace-{os.getuid()}"


def _state_folder(environ: Mapping[str, str]) -> Path | None:
    told = environ.get("XDG_STATE_HOME", "")
    if Path(told).is_absolute():
        return Path(told)
    home = Path(environ.get("HOME", ""))
    return home / ".local" / "state" if home.is_absolute() and os.access(home, os.W_OK) else None


def open_place(root: Path, run_id: str, host: str) -> Place:
    """Make the folder of a run on this host and say how segments are written there; raises OSError or FolderRefused."""
    group = config.read("OTELTRACE_GROUP")
    gid = _find_group(group) if group else None
    root.parent.mkdir(parents=True, exist_ok=True)
    _make_folder(root, gid, {os.geteuid(), 0})
    folder = root
    for name in (run_id, host):
        folder = folder / name
        _make_folder(folder, gid, {os.geteuid()})
    return measure_place(folder, 0o600 if gid is None else 0o640)


def measure_place(
    folder: Path, file_mode: int = 0o600, find_kind: Callable[[Path], str] = find_file_system
) -> Place:
    """Say how segments are written in a folder: mapped or not, how large, how many."""
    kind = find_kind(folder)
    state = os.statvfs(folder)
    free = state.f_bavail * state.f_frsize
    bound = min(free // 10, _MAX_MEMORY_BOUND if kind == "tmpfs" else _MAX_BOUND)
    bound = max(bound, _MIN_BOUND)
    segment = max(_MIN_SEGMENT, min(_MAX_SEGMENT, bound // 8 // _MiB * _MiB))
    return Place(folder, may_map(kind), bound, segment, file_mode)


def _make_folder(folder: Path, gid: int | None, owners: set[int]) -> None:
    """Make a folder that only its owner and the group may enter; one that is there must belong to an owner."""
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        _refuse_if_foreign(folder, owners)
        return
    if gid is not None:
        os.chown(folder, -1, gid)
        folder.chmod(0o2750)


def _refuse_if_foreign(folder: Path, owners: set[int]) -> None:
    state = folder.lstat()
    if stat.S_ISLNK(state.st_mode):
        raise FolderRefused(
            f"the journal's folder {folder} is a symbolic link; set OTELTRACE_DIR to the folder itself"
        )
    if not stat.S_ISDIR(state.st_mode):
        raise FolderRefused(
            f"the journal's folder {folder} is not a folder; set OTELTRACE_DIR to another one"
        )
    if state.st_uid not in owners:
        raise FolderRefused(
            f"the journal's folder {folder} belongs to user {state.st_uid}, not to you; set OTELTRACE_DIR to one of yours"
        )


def _find_group(name: str) -> int | None:
    try:
        return int(name) if name.isdecimal() else grp.getgrnam(name).gr_gid
    except KeyError:
        raise FolderRefused(f"OTELTRACE_GROUP={name!r}: there is no such group on this machine") from None
