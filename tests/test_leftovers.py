"""The fixture that fails a test for what it leaves behind sees each kind of it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

from tests.conftest import Surroundings, wait_for_leftovers

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_thread_is_seen_until_it_ends() -> None:
    """A thread that runs on is named; once it ends, nothing is left."""
    before = Surroundings.look()
    may_end = threading.Event()
    thread = threading.Thread(target=may_end.wait, name="left")
    thread.start()
    assert ["thread left"] == before.describe_leftovers(Surroundings.look())
    may_end.set()
    assert [] == wait_for_leftovers(before)


def test_a_child_process_is_seen_until_it_is_waited_for() -> None:
    """A child is named by its pid, also when it has ended and nobody asked."""
    before = Surroundings.look()
    child = subprocess.Popen([sys.executable, "-c", ""])
    assert [f"child process {child.pid}"] == wait_for_leftovers(before, patience=0.3)
    child.wait()
    assert [] == wait_for_leftovers(before)


def test_a_variable_is_seen_when_set_changed_or_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What differs in the environment is named, whichever way."""
    monkeypatch.setenv("LEFT_A", "1")
    monkeypatch.delenv("LEFT_B", raising=False)
    before = Surroundings.look()
    monkeypatch.delenv("LEFT_A")
    monkeypatch.setenv("LEFT_B", "1")
    leftovers = before.describe_leftovers(Surroundings.look())
    assert {"environment variable LEFT_A", "environment variable LEFT_B"} == set(leftovers)


def test_an_open_segment_is_seen(tmp_path: Path) -> None:
    """A descriptor of a segment is named by its path."""
    before = Surroundings.look()
    path = tmp_path / "1-2-3.seg"
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR)
    assert [f"open segment {path}"] == before.describe_leftovers(Surroundings.look())
    os.close(descriptor)
    assert [] == wait_for_leftovers(before)


def test_settings_of_the_outer_world_do_not_reach_tests() -> None:
    """A test sees its own journal and strict mode, and nothing else of ours or OpenTelemetry's."""
    ours = {name for name in os.environ if name.startswith(("OTEL_", "OTELTRACE_"))}
    assert {"OTELTRACE_DIR", "OTELTRACE_STRICT"} == ours
