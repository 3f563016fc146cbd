"""Forks in any state: every process has its own segments, nothing is lost and nothing hangs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from otel_trace.journal.trim import _read_final_tally
from tests.faults.producing import choose, explain, list_segments, read_journal, run_program

if TYPE_CHECKING:
    from pathlib import Path

THREADS = """
stop = threading.Event()
counts = []

@ot.traced
def busy(number): ...

def emit():
    number = 0
    while not stop.is_set():
        busy(number)
        number += 1
    counts.append(number)

threads = [threading.Thread(target=emit) for _ in range(3)]
for thread in threads:
    thread.start()
"""


@pytest.mark.timeout(600)
def test_forks_while_threads_emit(tmp_path: Path) -> None:
    """Children and grandchildren that end at once leave all their spans, and so does the parent."""
    num_forks = choose(short=40, long=200)
    program = (
        THREADS
        + f"""
def child(depth):
    pid = os.fork()
    if pid == 0:
        spans(10)
        if depth:
            child(depth - 1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0

for number in range({num_forks}):
    with ot.span("around", number=number):
        child(number % 3)
stop.set()
for thread in threads:
    thread.join()
print(sum(counts))
"""
    )
    outcome = run_program(tmp_path, program, seconds=500)
    run = read_journal(tmp_path)
    assert ("", 0) == (outcome.stderr, outcome.returncode)
    num_children = sum(number % 3 + 1 for number in range(num_forks))
    names = Counter(span.name for span in run.spans)
    assert {"work": 10 * num_children, "busy": int(outcome.stdout), "around": num_forks} == names, explain(
        run
    )
    assert num_children + 1 == len(run.processes)
    assert [] == [span.name for span in run.spans if span.is_open]
    assert not run.damage


def test_child_of_a_span_is_below_it(tmp_path: Path) -> None:
    """A child forked within a span continues its trace; the span itself belongs to the parent."""
    program = """
with ot.span("outer"):
    if os.fork() == 0:
        work(1)
        os._exit(0)
    os.wait()
"""
    run_program(tmp_path, program)
    run = read_journal(tmp_path)
    spans = {span.name: span for span in run.spans}
    assert {"outer", "work"} == set(spans)
    assert (spans["outer"].span_id, spans["outer"].trace_id) == (
        spans["work"].parent_id,
        spans["work"].trace_id,
    )
    assert spans["outer"].process.pid != spans["work"].process.pid


def test_fork_in_a_handler_at_any_moment(tmp_path: Path) -> None:
    """A handler that forks in the middle of a record or an opening leaves two sound journals."""
    num_forks = choose(short=40, long=200)
    program = f"""
children = []
def fork_and_emit(*_):
    if len(children) < {num_forks}:
        pid = os.fork()
        if pid == 0:
            children[:] = [0] * {num_forks}
            spans(5, first=10**6)
            os._exit(0)
        children.append(pid)
        signal.setitimer(signal.ITIMER_REAL, 0.001)

spans(1)
signal.signal(signal.SIGALRM, fork_and_emit)
signal.setitimer(signal.ITIMER_REAL, 0.001)
while len(children) < {num_forks}:
    spans(20)
    ot.shutdown()
print(sum(os.waitpid(pid, 0)[1] for pid in children))
report()
"""
    outcome = run_program(tmp_path, program)
    run = read_journal(tmp_path)
    by_pid = Counter(span.process.pid for span in run.spans)
    parent = by_pid.most_common(1)[0][0]
    assert ("", "0") == (outcome.stderr, outcome.stdout.splitlines()[0])
    assert outcome.report["created"] == by_pid[parent]
    assert [5] * num_forks == [number for pid, number in by_pid.items() if pid != parent]
    assert not run.damage


@pytest.mark.parametrize("has_written", [True, False])
def test_workers_of_multiprocessing_close_their_segments(tmp_path: Path, *, has_written: bool) -> None:
    """A forked worker that ends leaves its segment cut to its length, whether or not the parent had one."""
    program = f"""
import multiprocessing

def run(number):
    spans(10)

if {has_written}:
    spans(1)
context = multiprocessing.get_context("fork")
workers = [context.Process(target=run, args=(number,)) for number in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
"""
    outcome = run_program(tmp_path, program)
    assert ("", 0) == (outcome.stderr, outcome.returncode)
    assert 40 + has_written == len(read_journal(tmp_path).spans)
    segments = list_segments(tmp_path)
    assert 4 + has_written == len(segments)
    assert [] == [path.name for path in segments if _read_final_tally(path) is None]
