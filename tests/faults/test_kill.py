"""kill -9 at random moments: what a call had acknowledged is in the journal."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.faults.producing import (
    APPENDED,
    choose,
    command_of,
    explain,
    make_environment,
    make_random,
    read_journal,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Each start is acknowledged from within the span, each end after the call has returned.
PROGRAM = """
out = int(os.environ["ACKNOWLEDGE"])

def say(kind, span):
    os.write(out, kind + span.get_span_context().span_id.to_bytes(8, "big"))

@ot.traced
def inner(number, text):
    span = trace.get_current_span()
    say(b"s", span)
    return span

@ot.traced
def outer(number):
    span = trace.get_current_span()
    say(b"s", span)
    for text in ("abc", "d" * 50, "e"):
        say(b"e", inner(number, text))
    return span

def produce(first):
    number = first
    while True:
        say(b"e", outer(number))
        number += 1

@ot.traced
def whole_life(seed):
    say(b"s", trace.get_current_span())
    for thread in range(int(os.environ["THREADS"]) - 1):
        threading.Thread(target=produce, args=(thread * 10**6,), daemon=True).start()
    produce(10**9)

whole_life(7)
"""


@contextlib.contextmanager
def producing(folder: Path, threads: int, prelude: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start a producer; give it and the descriptor of what it acknowledges."""
    reading, writing = os.pipe()
    environment = make_environment(folder, ACKNOWLEDGE=str(writing), THREADS=str(threads))
    process = subprocess.Popen(command_of(prelude + PROGRAM), env=environment, pass_fds=[writing])
    os.close(writing)
    try:
        yield process, reading
    finally:
        process.kill()
        process.wait()
        os.close(reading)


def kill_after(folder: Path, seconds: float, threads: int, prelude: str) -> tuple[set[int], set[int]]:
    """Kill a producer some time after its first span; return the spans acknowledged as started and as ended."""
    chunks = []
    with producing(folder, threads, prelude) as (process, reading):
        chunks.append(os.read(reading, 9))
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            chunks.append(os.read(reading, 9 * 4096))
        process.send_signal(signal.SIGKILL)
        while chunk := os.read(reading, 9 * 4096):
            chunks.append(chunk)
    data = b"".join(chunks)
    records = [data[place : place + 9] for place in range(0, len(data) - 8, 9)]
    started = {int.from_bytes(record[1:]) for record in records if record[:1] == b"s"}
    return started, {int.from_bytes(record[1:]) for record in records if record[:1] == b"e"}


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("threads", "prelude"), [(1, ""), (3, ""), (2, APPENDED)], ids=["one thread", "three threads", "appended"]
)
def test_killed_producer_loses_no_ended_span(tmp_path: Path, threads: int, prelude: str) -> None:
    """However often and whenever it is killed: acknowledged spans are there, ended or known as open."""
    moments = make_random(f"kill/{threads}")
    lost: list[object] = []
    total = 0
    for number in range(choose(short=6, long=100)):
        folder = tmp_path / str(number)
        seconds = moments.choice([0, 0.001, 0.01, 0.1, 0.4]) * moments.random()
        started, ended = kill_after(folder, seconds, threads, prelude)
        run = read_journal(folder)
        there = {int(span.span_id, 16): span for span in run.spans}
        total += len(ended)
        lost += [span for span in started if span not in there]
        lost += [span for span in ended if span not in there or there[span].is_open]
        assert not [span for span in run.spans if span.is_open and not span.is_interrupted]
        assert {"whole_life", "outer", "inner"} >= {span.name for span in run.spans if span.is_open}
        assert [{"param.seed": 7}] == [
            {"param.seed": span.attributes.get("param.seed")}
            for span in run.spans
            if span.name == "whole_life"
        ]
        assert all("param.number" in span.attributes for span in run.spans if span.name != "whole_life")
        assert 2 * threads + 1 >= sum(span.is_open for span in run.spans) >= 1
        # What no longer came to be acknowledged: at most a start in each thread.
        assert threads >= run.ledger["created"] - len(started) >= 0, explain(run)
        assert run.damage.records <= 1, explain(run)  # a record that the kill tore
    assert [] == lost
    assert total > 0
