from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from otel_trace._guard import forget_what_was_told
from otel_trace.cluster import run as run_module
from otel_trace.cluster.run import current_run, find_run

if TYPE_CHECKING:
    from collections.abc import Mapping

ASK = "from otel_trace.cluster.run import current_run; print(current_run().run_id)"
TORCHRUN = {
    "TORCHELASTIC_RUN_ID": "none",
    "MASTER_ADDR": "node0",
    "MASTER_PORT": "29500",
    "RANK": "0",
    "WORLD_SIZE": "2",
    "LOCAL_WORLD_SIZE": "2",
}


def ask(environ: Mapping[str, str] | None = None, program: str = ASK) -> list[str]:
    """Let a process of its own print run ids."""
    command = [sys.executable, "-c", program]
    environ = {**os.environ, **(environ or {})}
    return subprocess.run(command, env=environ, check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        ("exp-7.b_2", "exp-7.b_2"),
        ("a" * 80, "a" * 80),
        (r"my-run-[0-9a-f]{8}", "my run"),
        (r"my-run-[0-9a-f]{8}", "my/run"),
        (r"etc-passwd-[0-9a-f]{8}", "../../etc/passwd"),
        (r"[0-9a-f]{8}", "///"),
        (r"[0-9a-f]{8}", ".."),
        (r"l-[0-9a-f]{8}", "läuft"[:2]),
        (r"[0-9a-f]{8}", "\udce4"),
        ("a" * 80 + r"-[0-9a-f]{8}", "a" * 5000),
    ],
)
def test_a_run_id_that_is_told_is_also_a_folders_name(
    monkeypatch: pytest.MonkeyPatch, expected: str, told: str
) -> None:
    """OTELTRACE_RUN_ID is used as it is; what no folder may be called is replaced, and a hash tells it apart."""
    monkeypatch.setenv("OTELTRACE_RUN_ID", told)
    run_id = find_run().run_id
    assert re.fullmatch(expected, run_id)
    assert run_id == find_run().run_id


def test_ids_that_look_alike_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two texts that are cleaned to the same name are two runs."""
    found = set()
    for told in ("my run", "my/run", "my-run", "my  run"):
        monkeypatch.setenv("OTELTRACE_RUN_ID", told)
        found.add(find_run().run_id)
    assert 4 == len(found)


def test_a_process_alone_is_a_run_of_its_own() -> None:
    """Two programs started in the same way are two runs; each asks as often as it likes."""
    program = f"{ASK}; print(current_run().run_id)"
    first, second = ask(program=program), ask(program=program)
    assert (1, 1) == (len(set(first)), len(set(second)))
    assert first != second


def test_the_ranks_of_a_node_are_one_run() -> None:
    """All that one agent starts is one run; what another agent starts with the same words is another one."""
    start_two = (
        "import os, subprocess, sys\n"
        f"for rank in '01': subprocess.run([sys.executable, '-c', {ASK!r}], env={{**os.environ, 'RANK': rank}})"
    )
    environ = {name: text for name, text in TORCHRUN.items() if name != "RANK"}
    first, second = ask(environ, start_two), ask(environ, start_two)
    assert (2, 2) == (len(first), len(second))
    assert (1, 1) == (len(set(first)), len(set(second)))
    assert first != second


def test_the_ranks_of_many_nodes_are_one_run() -> None:
    """Agents on several nodes agree by the master's address and port, and by the launcher's own id."""
    environ = {**TORCHRUN, "LOCAL_WORLD_SIZE": "1"}
    first = ask(environ)
    assert first == ask({**environ, "RANK": "1"})
    for name in ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"):
        assert first != ask({**environ, name: "another"})


def test_ranks_started_by_hand_on_one_node_are_told_from_the_next_time() -> None:
    """A fixed port on localhost is used by every run of a script: its starter makes the difference."""
    start = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {ASK!r}])"
    by_hand = "import os; os.environ |= {'RANK': '0', 'WORLD_SIZE': '2'}; " + start
    environ = {"MASTER_ADDR": "localhost", "MASTER_PORT": "12355"}
    assert ask(environ, by_hand) != ask(environ, by_hand)


def test_ranks_that_nothing_joins_are_told_how_to_be_joined(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without an address each rank is a run; one line says what to set."""
    forget_what_was_told()
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    with caplog.at_level(logging.WARNING, "otel_trace"):
        run_ids = {find_run().run_id, find_run().run_id}
    assert {run_module._known.own_id} == run_ids
    assert 1 == len(caplog.records)
    assert "set OTELTRACE_RUN_ID to the same text on all" in caplog.text


def test_threads_that_ask_at_once_get_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks first decides for everybody."""
    monkeypatch.setattr(run_module, "_known", run_module._Known())
    with ThreadPoolExecutor(8) as threads:
        runs = list(threads.map(lambda _: current_run(), range(64)))
    assert 1 == len({id(run) for run in runs})


FORK = """
import os
from otel_trace.cluster.run import current_run, step_ids
{before}
pid = os.fork()
if pid:
    os.waitpid(pid, 0)
else:
    {child}
run = current_run()
print(run.run_id, step_ids(run, "train", 1, 0).trace_id, flush=True)
"""


@pytest.mark.parametrize("before", ["", "current_run()"])
@pytest.mark.parametrize("environ", [{}, TORCHRUN, {**TORCHRUN, "LOCAL_WORLD_SIZE": "1"}])
def test_a_forked_child_is_in_the_run_with_steps_of_its_own(environ: dict[str, str], before: str) -> None:
    """A worker belongs to its parent's run, asked for before the fork or not, and shares no trace with it."""
    first_run, first_trace, second_run, second_trace = ask(environ, FORK.format(before=before, child="pass"))
    assert first_run == second_run
    assert first_trace != second_trace


def test_ranks_that_are_forked_agree_with_one_another() -> None:
    """A child that is given a rank of its own is that rank, as if it had been started."""
    child = "os.environ |= {'RANK': '1', 'WORLD_SIZE': '2'}"
    parent = "import os; os.environ |= {'RANK': '0', 'WORLD_SIZE': '2'}"
    program = FORK.format(before=parent, child=child)
    told = ask({"OTELTRACE_RUN_ID": "exp"}, program)
    assert told[:2] == told[2:]
