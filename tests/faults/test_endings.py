"""The ways a training process ends: with us it ends just as it does without us, and its spans are there."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.faults.producing import Outcome, read_journal, run_program, run_without_us

if TYPE_CHECKING:
    from pathlib import Path

ENDINGS = {
    "returns": ("pass", 0),
    "exit status": ("sys.exit(3)", 3),
    "os._exit": ("os._exit(4)", 4),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    "SIGINT": ("os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT),
    "abort": ("os.abort()", -signal.SIGABRT),
    "segfault": ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV),
    "exception": ("raise ValueError('bad batch')", 1),
    "memory": ("raise MemoryError", 1),
    "recursion": ("def again(): again()\nagain()", 1),
}
PROGRAM = """
import resource
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
spans(100)
@ot.traced
def last(step):
    exec({ending!r}, globals())
last(7)
"""


def without_frames(outcome: Outcome) -> tuple[int, str, list[str]]:
    """Return how a program ended, without the frames of a traceback, where ours are among the user's."""
    lines = [line for line in outcome.stderr.splitlines() if not line.startswith("  ")]
    return outcome.returncode, outcome.stdout, lines


@pytest.mark.parametrize("name", ENDINGS)
def test_program_ends_as_without_us(tmp_path: Path, name: str) -> None:
    """Exit status, output and error are the same, and every span is in the journal."""
    ending, returncode = ENDINGS[name]
    program = PROGRAM.format(ending=ending)
    outcome = run_program(tmp_path, program)
    assert returncode == outcome.returncode
    assert without_frames(run_without_us(tmp_path / "none", program)) == without_frames(outcome)
    run = read_journal(tmp_path)
    assert {"journal": 101, "created": 101} == run.ledger
    (last,) = [span for span in run.spans if span.name == "last"]
    is_caught = (returncode >= 0 and name != "os._exit") or name == "SIGINT"
    assert (is_caught, 7) == (not last.is_open, last.attributes["param.step"])
    assert [] == [span.span_id for span in run.spans if span.is_open and span is not last]
    assert not run.damage


def test_handler_that_emits_at_any_moment(tmp_path: Path) -> None:
    """A signal handler that opens spans, also while a segment is being opened, loses none and hangs never."""
    program = """
spans(1)
def emit_and_go_on(*_):
    spans(3)
    signal.setitimer(signal.ITIMER_REAL, 0.0005)

signal.signal(signal.SIGALRM, emit_and_go_on)
signal.setitimer(signal.ITIMER_REAL, 0.0005)
end = time.monotonic() + 3
while time.monotonic() < end:
    spans(100)
    ot.shutdown()  # so that a segment is opened all the time
signal.signal(signal.SIGALRM, signal.SIG_IGN)
report()
"""
    outcome = run_program(tmp_path, program)
    run = read_journal(tmp_path)
    assert [] == outcome.warnings
    assert (outcome.report["created"], {}) == (len(run.spans), outcome.report["lost"])
    assert not [span for span in run.spans if span.is_open]
    assert not run.damage


def test_finalizers_that_emit(tmp_path: Path) -> None:
    """Spans from `__del__`, whenever the collector runs it, are spans like others."""
    program = """
import gc
gc.set_threshold(5)

class Noisy:
    def __init__(self): self.me = self
    def __del__(self): work(0)

for _ in range(2000):
    Noisy()
    spans(3)
    if _ % 50 == 0:
        ot.shutdown()
gc.collect()
report()
"""
    outcome = run_program(tmp_path, program)
    run = read_journal(tmp_path)
    assert (8000, 8000) == (outcome.report["created"], len(run.spans))
    assert [] == outcome.warnings
    assert not run.damage
