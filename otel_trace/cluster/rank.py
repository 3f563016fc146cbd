"""Which rank this process is: one table of launchers, first match wins."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

_MAX_DIGITS = 9


@dataclass(frozen=True)
class Launcher:
    """The variables by which a launcher tells a process its place."""

    name: str
    rank: str
    world_size: str
    local_rank: str
    local_world_size: str
    node_rank: str
    attempt: str
    mark: str


LAUNCHERS = (
    Launcher(
        "torchrun",
        rank="RANK",
        world_size="WORLD_SIZE",
        local_rank="LOCAL_RANK",
        local_world_size="LOCAL_WORLD_SIZE",
        node_rank="GROUP_RANK",
        attempt="TORCHELASTIC_RESTART_COUNT",
        mark="TORCHELASTIC_RUN_ID",
    ),
    Launcher(
        "env",
        rank="RANK",
        world_size="WORLD_SIZE",
        local_rank="LOCAL_RANK",
        local_world_size="LOCAL_WORLD_SIZE",
        node_rank="NODE_RANK",
        attempt="",
        mark="RANK",
    ),
)


@dataclass(frozen=True)
class Place:
    """The place of a process in its job; one process alone is rank 0 of 1."""

    launcher: str = "none"
    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    local_world_size: int = 1
    node_rank: int = 0
    attempt: int = 0
    environ: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)


def find_place(environ: Mapping[str, str] = os.environ) -> Place:
    """Read this process's place from the first launcher whose variables are there."""
    for launcher in LAUNCHERS:
        if environ.get(launcher.mark) and _read(environ, launcher.rank, -1) >= 0:
            return _read_place(launcher, environ)
    return Place(environ=environ)


def _read_place(launcher: Launcher, environ: Mapping[str, str]) -> Place:
    rank = _read(environ, launcher.rank, 0)
    return Place(
        launcher=launcher.name,
        rank=rank,
        world_size=max(rank + 1, _read(environ, launcher.world_size, 1)),
        local_rank=_read(environ, launcher.local_rank, 0),
        local_world_size=max(1, _read(environ, launcher.local_world_size, 1)),
        node_rank=_read(environ, launcher.node_rank, 0),
        attempt=_read(environ, launcher.attempt, 0),
        environ=environ,
    )


def _read(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, "").strip()
    return int(text) if text.isdecimal() and len(text) <= _MAX_DIGITS else default
