"""What holds for every test: a journal of its own, failures of ours that raise, and nothing left behind."""

from __future__ import annotations

import gc
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

# Helpers that Python's multiprocessing starts once and keeps until the process ends.
KEPT_HELPERS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")
PATIENCE = 2.0


@dataclass(frozen=True)
class Surroundings:
    """What a test can leave behind in the process that runs it."""

    threads: frozenset[threading.Thread]
    children: frozenset[psutil.Process]
    environment: frozenset[tuple[str, str]]
    segments: frozenset[str]

    @classmethod
    def look(cls) -> Surroundings:
        """Say what there is now."""
        environment = {item for item in os.environ.items() if item[0] != "PYTEST_CURRENT_TEST"}
        return cls(
            threads=frozenset(threading.enumerate()),
            children=frozenset(child for child in psutil.Process().children() if not is_kept_helper(child)),
            environment=frozenset(environment),
            segments=frozenset(list_open_segments()),
        )

    def describe_leftovers(self, now: Surroundings) -> list[str]:
        """Name what is there now and was not before, and variables that are gone."""
        return [
            *(f"thread {thread.name}" for thread in now.threads - self.threads),
            *(f"child process {child.pid}" for child in now.children - self.children),
            *(f"environment variable {name}" for name, _ in now.environment ^ self.environment),
            *(f"open segment {path}" for path in now.segments - self.segments),
        ]


def is_kept_helper(process: psutil.Process) -> bool:
    """Whether this is a helper of multiprocessing, which outlives the test that needed it."""
    try:
        command = " ".join(process.cmdline())
    except psutil.ZombieProcess:
        return False
    except psutil.NoSuchProcess:
        return True
    return any(name in command for name in KEPT_HELPERS)


def list_open_segments() -> Iterator[str]:
    """Yield the journal segments this process holds open, mapped ones too (a map keeps a descriptor)."""
    for descriptor in Path("/proc/self/fd").glob("*"):
        try:
            path = str(descriptor.readlink())
        except OSError:
            continue
        if ".seg" in path:
            yield path


def wait_for_leftovers(before: Surroundings, patience: float = PATIENCE) -> list[str]:
    """List what stays; things that are just ending get a moment for it."""
    deadline = time.monotonic() + patience
    leftovers = before.describe_leftovers(Surroundings.look())
    while leftovers and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.02)
        leftovers = before.describe_leftovers(Surroundings.look())
    return leftovers


@pytest.fixture(autouse=True)
def clean_process(tmp_path: Path) -> Iterator[None]:
    """Fail a test that leaves a thread, a child process, a variable or an open segment behind."""
    ours = {"OTELTRACE_DIR": str(tmp_path / "journal"), "OTELTRACE_STRICT": "1"}
    outer = os.environ.copy()
    for name in outer:
        if name.startswith(("OTEL_", "OTELTRACE_")):
            del os.environ[name]
    os.environ.update(ours)
    before = Surroundings.look()
    try:
        yield
        leftovers = wait_for_leftovers(before)
    finally:
        os.environ.clear()
        os.environ.update(outer)
    if leftovers:
        pytest.fail("left behind: " + ", ".join(sorted(leftovers)), pytrace=False)
