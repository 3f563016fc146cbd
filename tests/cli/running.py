"""Run the command line in this process, the same with every version of click."""

import contextlib
import io
from dataclasses import dataclass

from otel_trace.cli.main import main


@dataclass(frozen=True)
class Result:
    """What a command wrote and how it ended."""

    exit_code: int
    stdout: str
    stderr: str


def run_command(*args: str) -> Result:
    """Run `otel-trace` with these arguments, its output going to no terminal."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(args), prog_name="otel-trace")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    return Result(code, out.getvalue(), err.getvalue())
