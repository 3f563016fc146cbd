"""A real program, killed in the middle: what its author sees afterwards."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.cli.running import run_command

PROGRAM = """
import os, signal
import otel_trace as ot

@ot.traced
def load(path, size=2):
    return [1] * size

@ot.stage("forward")
def forward(x, lr):
    if lr > 0.3:
        raise ValueError("lr \\x1b[31mtoo large\\nfor this")
    return x * lr

load("setup.csv")
for number in range(4):
    with ot.step(number):
        with ot.stage("data"):
            load(f"{number}.csv")
        try:
            forward(2.0, number / 10 + 0.1)
        except ValueError:
            pass
        if number == 3:
            with ot.stage("checkpoint", path="out\\0.pt"):
                os.kill(os.getpid(), signal.SIGKILL)
"""

STEP_3 = """
>T  step  (interrupted)
 T  ├─ data
 T  │  └─ load  path='3.csv'  size=2  -> [1, 1]
 T  ├─ forward  x=2  lr=0.4  ! ValueError: lr \\x1b[31mtoo large\\nfor this
    │     (train.py:12 in forward)
>T  └─ checkpoint  (interrupted)  path='out\\x00.pt'  (train.py:25)
"""


def run_killed_program(folder: Path) -> None:
    """Run the program until it is killed."""
    path = folder / "train.py"
    path.write_text(PROGRAM)
    ended = subprocess.run([sys.executable, str(path)], check=False)
    assert -signal.SIGKILL == ended.returncode


def hide_times(text: str) -> str:
    """Replace the column of times, which differ from run to run."""
    timed = re.sub(r"^ *(>?)[\d.]+ [num]?s  ", lambda found: f"{found[1]:>1}T  ", text, flags=re.MULTILINE)
    return re.sub(r"^ {11}", " " * 4, timed, flags=re.MULTILINE)


def test_a_killed_program_shows_what_it_was_doing(tmp_path: Path) -> None:
    """After kill -9 the last step stands with its parameters, its error, and the stage that never ended."""
    run_killed_program(tmp_path)
    result = run_command("view", "--step", "3")
    assert STEP_3.strip() == hide_times(result.stdout).partition("\n\n")[2].partition("\n")[2].strip()


def test_a_killed_program_is_whole_as_json(tmp_path: Path) -> None:
    """As data the same run has every span, with what was never ended marked."""
    run_killed_program(tmp_path)
    data = json.loads(run_command("view", "--json").stdout)
    spans = [span for trace in data["traces"] for span in trace["spans"]]
    assert ["step", "checkpoint"] == [span["name"] for span in spans if span["is_interrupted"]]
    assert 1 + 4 * 4 + 1 == len(spans)
    assert (0, []) == (data["damage"]["records"], data["damage"]["segments_refused"])


def test_a_killed_program_is_listed_as_ended(tmp_path: Path) -> None:
    """The list of runs does not take a killed run for a live one."""
    run_killed_program(tmp_path)
    (found,) = json.loads(run_command("runs", "--json").stdout)["runs"]
    assert (False, 1) == (found["is_alive"], found["num_processes"])
