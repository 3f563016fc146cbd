"""Programs that emit spans until something happens to them, and what they and the journal say afterwards.

Short and seeded by default; `LONG_FAULTS=1` runs the long form, `FAULTS_SEED` another sequence.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otel_trace.journal.spans import RunData, read_run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

IS_LONG = os.environ.get("LONG_FAULTS", "") not in {"", "0"}
SEED = int(os.environ.get("FAULTS_SEED", "20261118"))
RUN = "run-a"
PRELUDE = """
import json, os, signal, sys, threading, time
import otel_trace as ot
from opentelemetry import trace

created = []

@ot.traced
def work(number, text="abc", then=None):
    created.append(1)  # in one go, also where a signal handler does it too
    return number if then is None else then()

def spans(number, first=0):
    for n in range(first, first + number):
        work(n)

def report():
    from otel_trace.emit.start import _started
    lost = dict(_started.writer.ledger.lost) if _started.writer else {}
    print(json.dumps({"created": len(created), "lost": lost}), flush=True)
"""

# Before a program: write as on a network file system.
APPENDED = """
import dataclasses
from otel_trace.emit import start
opened = start.open_place
start.open_place = lambda *arguments: dataclasses.replace(opened(*arguments), is_mapped=False)
"""


def choose(*, short: int, long: int) -> int:
    """Return how often to do something: few times, or many in the long form."""
    return long if IS_LONG else short


def make_random(name: str) -> random.Random:
    """Return a generator of its own for one test."""
    return random.Random(f"{SEED}/{name}")


def make_environment(folder: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a program that keeps its journal in a folder, in real life: not strict."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL", "PYTEST"))}
    return {
        **inherited,
        "OTELTRACE_DIR": str(folder),
        "OTELTRACE_RUN_ID": RUN,
        "PYTHONFAULTHANDLER": "",
        **variables,
    }


def command_of(program: str) -> list[str]:
    """Return the command that runs a program after the prelude."""
    return [sys.executable, "-c", PRELUDE + program]


@dataclass(frozen=True)
class Outcome:
    """How a program ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def warnings(self) -> list[str]:
        """The lines that we wrote on stderr."""
        return [line for line in self.stderr.splitlines() if line.startswith("otel_trace: ")]

    @property
    def report(self) -> dict[str, Any]:
        """What the program counted, from its last line."""
        counted: dict[str, Any] = json.loads(self.stdout.splitlines()[-1])
        return counted


def run_program(folder: Path, program: str, *, seconds: float = 60, **options: Any) -> Outcome:
    """Run a program to its end, which it must reach by itself."""
    variables: Mapping[str, str] = options.pop("variables", {})
    done = subprocess.run(
        command_of(program),
        env=make_environment(folder, **variables),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        **options,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def run_without_us(folder: Path, program: str) -> Outcome:
    """Run the same program with everything of ours disabled."""
    return run_program(folder, program, variables={"OTEL_SDK_DISABLED": "true"})


def read_journal(folder: Path) -> RunData:
    """Read the run that the programs of a test wrote."""
    return read_run(folder / RUN)


def list_segments(folder: Path) -> list[Path]:
    """List the segments that the programs of a test left."""
    return sorted((folder / RUN).glob("*/*.seg"))


def explain(run: RunData) -> dict[str, Any]:
    """Return what an assertion about a run should show when it fails."""
    return {"ledger": dict(run.ledger), "damage": run.damage, "processes": len(run.processes)}
