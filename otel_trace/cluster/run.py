"""In which run this process is, and the ids of its steps: derived by hashing, alike on every rank.

A trace id never begins with the hex digit 0 (Tempo's search cuts it), no id is zero, and the low 64 bits
stay uniform, so that a ratio sampler decides alike on every rank.
"""

import functools
import hashlib
import re
import os
from dataclasses import dataclass

from otel_trace import config
from otel_trace.cluster.process import read_parent
from otel_trace.cluster.rank import Place, find_place

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Run:
    """One job, with this process's place in it."""

    run_id: str
    place: Place


@dataclass(frozen=True)
class StepIds:
    """The ids of one step: of its trace, its root, and each rank below it."""

    trace_id: int
    root_id: int
    rank_id: int


@functools.cache
def current_run() -> Run:
    """Give the run of this process, found out once; a forked child is in the run of its parent."""
    return find_run()


def find_run() -> Run:
    """Find out the run of this process: told, else derived from the launcher, else a new one."""
    place = find_place()
    return Run(_make_safe(config.read("OTELTRACE_RUN_ID")) or _derive(place) or os.urandom(6).hex(), place)


def _make_safe(text: str) -> str:
    """Make a run id that is also a folder's name: what had to be changed leaves a hash behind."""
    name = _UNSAFE.sub("-", text).strip(".-")[:80]
    return name if name == text else f"{name}-{_hash(text, 4).hex()}".lstrip("-") if text else ""


def _derive(place: Place) -> str:
    """Derive an id that torchrun's agent gives all its workers, and no other agent.

    The launcher's run id is user text and gets reused; on one node the agent's process makes it unique.
    """
    if place.launcher == "none":
        return ""
    parts = [place.environ.get(name, "") for name in ("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT")]
    if place.local_world_size == place.world_size:
        parts = [*parts[:1], read_parent()]
    return _hash("\0".join(parts), 6).hex()


def step_ids(run: Run, loop: str, step: int, opened: int) -> StepIds:
    """Give the ids of the `opened`-th opening of a step, the same on every rank."""
    seed = f"{run.run_id}\0{run.place.attempt}\0{loop}\0{step}\0{opened}"
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
