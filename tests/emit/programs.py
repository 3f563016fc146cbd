"""Programs as users write them, each in a process of its own: what they print, and what their journal has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otel_trace.journal.runs import find_runs
from otel_trace.journal.spans import RunData, SpanData, read_run

REPOSITORY = Path(__file__).parents[2]


@dataclass
class Outcome:
    """What a program left."""

    printed: Any
    stderr: str
    runs: list[RunData]

    @property
    def spans(self) -> list[SpanData]:
        """Give the spans of all its runs."""
        return [span for run in self.runs for span in run.spans]

    @property
    def names(self) -> list[str]:
        """Give the names of its spans, in order of their start."""
        return [span.name for span in self.spans]


def run_program(code: str, **environ: str) -> Outcome:
    """Run a program that may print one line of JSON last."""
    root = Path(os.environ["OTELTRACE_DIR"])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    printed = json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else None
    return Outcome(printed, done.stderr, [read_run(run.path) for run in find_runs(root)])
