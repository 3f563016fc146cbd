"""In which run this process is, and the ids of its steps: derived by hashing, alike on every rank.

A trace id never begins with the hex digit 0 (Tempo's search cuts it), no id is zero, and the low 64 bits
stay uniform, so that a ratio sampler decides alike on every rank.
"""

import hashlib
import os
import re
from dataclasses import dataclass

from otel_trace import config
from otel_trace._guard import tell_once
from otel_trace.cluster.process import read_launcher, this_process
from otel_trace.cluster.rank import Place, find_place

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LOOPBACK = re.compile(r"localhost|127\..*|::1")
_SHARED = ("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT")


@dataclass(frozen=True)
class Run:
    """One job, with this process's place in it.

    `branch` tells a forked child, which may count the same steps, from the process whose place it shares.
    """

    run_id: str
    place: Place
    branch: str = ""


@dataclass(frozen=True)
class StepIds:
    """The ids of one step: of its trace, its root, and each rank below it."""

    trace_id: int
    root_id: int
    rank_id: int


class _Known:
    """What this process knows of its run: the run, or what a forked child has from its parent."""

    def __init__(self) -> None:
        self.runs: dict[str, Run] = {}  # at most one; `setdefault` decides between threads
        self.own_id = os.urandom(6).hex()
        self.inherited: Run | None = None
        self._at_fork: Run | None = None

    def before_fork(self) -> None:
        """Find out what a child would be part of, without deciding it for this process."""
        self._at_fork = self.runs.get("run") or find_run()

    def after_fork(self) -> None:
        """Find out the run anew in a child, which may be given a place of its own."""
        self.inherited = self._at_fork
        self.runs.clear()


_known = _Known()
os.register_at_fork(before=_known.before_fork, after_in_child=_known.after_fork)


def current_run() -> Run:
    """Give the run of this process, found out once; a forked child is in the run of its parent."""
    return _known.runs.get("run") or _known.runs.setdefault("run", find_run())


def find_run() -> Run:
    """Find out the run of this process: told, else derived from the launcher, else a new one."""
    place = find_place()
    parent = _known.inherited
    if parent is not None and parent.place == place:
        return Run(parent.run_id, place, branch=f"/{this_process()}")
    run_id = _make_safe(config.read("OTELTRACE_RUN_ID")) or _derive(place) or _known.own_id
    return Run(run_id, place)


def _make_safe(text: str) -> str:
    """Make a run id that is also a folder's name: what had to be changed leaves a hash behind."""
    name = _UNSAFE.sub("-", text).strip(".-")[:80]
    return name if name == text else f"{name}-{_hash(text, 4).hex()}".lstrip("-") if text else ""


def _derive(place: Place) -> str:
    """Derive an id that all ranks of a job derive alike, and no other job's.

    The launcher's run id is user text and gets reused, and so does a port; on one node the agent's process
    makes it unique.
    """
    if place.launcher == "none":
        return ""
    told = {name: text for name in _SHARED if (text := place.environ.get(name))}
    if _is_one_node(place, told.get("MASTER_ADDR", "")):
        rank = {"RANK": place.environ.get("RANK", "")}
        return _hash("\0".join([*told.values(), read_launcher({**told, **rank})]), 6).hex()
    if "MASTER_ADDR" not in told:
        tell_once(
            "run id",
            "nothing tells which ranks belong together; set OTELTRACE_RUN_ID to the same text on all",
        )
        return ""
    return _hash("\0".join(told.get(name, "") for name in _SHARED), 6).hex()


def _is_one_node(place: Place, master: str) -> bool:
    """Say whether all ranks are on this node: told, or, where nobody tells, by the master's address."""
    if place.launcher == "env" and not place.environ.get("LOCAL_WORLD_SIZE"):
        return place.world_size == 1 or _LOOPBACK.fullmatch(master) is not None
    return place.local_world_size >= place.world_size


def step_ids(run: Run, loop: str, step: int, opened: int) -> StepIds:
    """Give the ids of the `opened`-th opening of a step, the same on every rank."""
    seed = f"{run.run_id}{run.branch}\0{run.place.attempt}\0{loop}\0{step}\0{opened}"
    digest = bytearray(_hash(seed, 16))
    if digest[0] < 0x10:
        digest[0] |= 0x10
    trace_id = int.from_bytes(digest, "big")
    root_id = _span_id(f"{trace_id:032x}/root")
    rank_id = _span_id(f"{trace_id:032x}/{run.place.rank}")
    return StepIds(trace_id, root_id, root_id if run.place.world_size == 1 else rank_id)


def _span_id(seed: str) -> int:
    return int.from_bytes(_hash(seed, 8), "big") or 1


def _hash(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()
