import subprocess
import sys
from pathlib import Path

import pytest

from otel_trace.cli.main import COMMANDS
from otel_trace.version import __version__
from tests.cli.running import run_command


def test_help_lists_every_command() -> None:
    """The help names each command with what it does."""
    result = run_command("--help")
    assert (0, "") == (result.exit_code, result.stderr)
    for name, text in COMMANDS.items():
        assert any(line.split(None, 1) == [name, text] for line in result.stdout.splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    """Each command of the table loads, and says the same first sentence about itself."""
    result = run_command(name, "--help")
    assert 0 == result.exit_code
    assert name in result.stdout


def test_help_loads_no_command() -> None:
    """Asking for help is quick: no command, no reader, no terminal library is loaded."""
    code = (
        "import sys; from otel_trace.cli.main import main; main(['--help'], standalone_mode=False); "
        "print(sorted({'rich', 'msgspec', 'torch', 'numpy', 'opentelemetry.sdk', 'otel_trace.view'} & set(sys.modules)))"
    )
    assert "[]" == run_python("-c", code).stdout.splitlines()[-1]


def test_the_package_runs_as_a_module() -> None:
    """`python -m otel_trace` is the same command, under its usual name."""
    assert run_python("-m", "otel_trace", "--help").stdout.startswith("Usage: otel-trace [OPTIONS]")


def test_an_unknown_command_is_one_line() -> None:
    """A command that does not exist is named, without a traceback."""
    result = run_command("nope")
    assert 2 == result.exit_code
    assert "Error: No such command 'nope'." in result.stderr


def test_what_a_person_can_cause_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is not there is one line on stderr and exit code 1."""
    monkeypatch.setenv("OTELTRACE_DIR", str(tmp_path))
    result = run_command("view", "nope")
    assert (1, "") == (result.exit_code, result.stdout)
    assert f"Error: no run 'nope': there are no runs in {tmp_path}\n" == result.stderr


def run_python(*args: str) -> subprocess.CompletedProcess[str]:
    """Run Python in another process."""
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=True)


def test_the_version_is_told() -> None:
    """The version is that of the package, installed or not."""
    assert f"otel-trace, version {__version__}\n" == run_command("--version").stdout
