import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from otel_trace.journal.place import journal_root
from tests.cli.running import Result, run_command
from tests.view.factories import make_process, make_span
from tests.view.journals import write_run
from tests.view.otlp import make_request


@pytest.fixture
def root() -> Path:
    """Give the folder of all runs of this test."""
    return journal_root()


def run(*args: str) -> Result:
    """Run `otel-trace view` in this process."""
    return run_command("view", *args)


def test_the_newest_run_is_shown(root: Path) -> None:
    """Without arguments the newest run stands on the screen, plain where nobody looks."""
    write_run(root, "run-old", age_s=60)
    write_run(root, "run-new")
    result = run()
    lines = result.stdout.splitlines()
    assert (0, "Run run-new of train.py") == (result.exit_code, lines[0])
    assert "  1.00 ms  load  path='a.csv'" == lines[-1]
    assert "\x1b" not in result.stdout


def test_a_run_is_shown_by_name_and_path(root: Path) -> None:
    """The argument is a run's id, its beginning or its folder."""
    folder = write_run(root, "run-a")
    write_run(root, "other")
    for name in ("run-a", "ru", str(folder)):
        assert "Run run-a of train.py" == run(name).stdout.splitlines()[0]


def test_one_trace_is_shown(root: Path) -> None:
    """An option cuts the run to one trace."""
    write_run(root, "run-a", num_spans=9)
    lines = run("--trace", f"{7:032x}").stdout.splitlines()
    assert [f"{7:032x}"] == [line.split()[-1] for line in lines if " trace " in f"{line} " and "load" in line]


def test_what_is_not_there_is_refused(root: Path) -> None:
    """A step that the run has not is one line and exit code 1."""
    write_run(root, "run-a")
    result = run("--step", "3")
    assert (1, "") == (result.exit_code, result.stdout)
    assert "Error: no step 3 in this run; nothing in it belongs to a step\n" == result.stderr


def test_open_spans_are_shown(root: Path) -> None:
    """A run that a live process writes shows what it is doing."""
    write_run(root, "run-a", is_ended=False)
    assert "so far)  path='a.csv'" in run().stdout


def test_json_is_one_object(root: Path) -> None:
    """For machines the run is one JSON object on one line."""
    write_run(root, "run-a", num_spans=3)
    result = run("--json")
    data = json.loads(result.stdout)
    assert 1 == result.stdout.count("\n")
    assert ("run-a", 3) == (data["run_id"], len(data["traces"]))
    assert {"param.path": "a.csv"} == data["traces"][0]["spans"][0]["attributes"]


def test_a_damaged_run_is_shown(root: Path) -> None:
    """What can be read of a damaged journal is shown, and what not is said."""
    segment = next(write_run(root, "run-a", num_spans=3).rglob("*.seg"))
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 0xFF
    segment.write_bytes(bytes(data))
    result = run()
    assert 0 == result.exit_code
    assert "Not complete: 1 damaged record skipped" in result.stdout


def test_a_closed_pipe_is_no_error(root: Path) -> None:
    """`otel-trace view | head` ends without a word."""
    write_run(root, "run-a", num_spans=3_000)
    command = f"{sys.executable} -m otel_trace view --limit 0 | head -n 1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert ("Run run-a of train.py\n", "") == (result.stdout, result.stderr)


def test_a_terminal_without_unicode_gets_plain_characters(root: Path) -> None:
    """Where the output's encoding is ASCII, nothing fails."""
    write_run(root, "run-\u706b")
    result = subprocess.run(
        [sys.executable, "-m", "otel_trace", "view"],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert r"Run run-\u706b of train.py" == result.stdout.splitlines()[0]


def test_a_file_of_otlp_is_shown(tmp_path: Path) -> None:
    """What a Collector wrote is shown as a journal is; of several runs the one that is named."""
    path = tmp_path / "spans.json"
    for run_id, trace_id in (("run-a", "a" * 32), ("run-b", "b" * 32)):
        process = make_process(service="train.py")
        process.resource["training.run_id"] = run_id
        span = make_span("a1" * 8, name="load", trace_id=trace_id, process=process)
        with path.open("a") as file:
            file.write(json.dumps(make_request([span])) + "\n")
    lines = run(str(path), "--run", "run-b").stdout.splitlines()
    assert ("Run run-b of train.py", "  1.00 ms  load") == (lines[0], lines[-1])


@pytest.mark.parametrize("command", ["view", "runs"])
def test_nobody_at_a_url_is_one_line(command: str) -> None:
    """A server that does not answer is one line on stderr and exit code 1."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        result = run_command(command, url)
    assert (1, "", f"Error: {url} cannot be asked: connection refused\n") == (
        result.exit_code,
        result.stdout,
        result.stderr,
    )
