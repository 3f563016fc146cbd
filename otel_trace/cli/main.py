"""The command `otel-trace`: a table of commands, each loaded only when it is used.

What a person can cause (a run that is not there, a folder that may not be read) is one line on stderr and exit code 1.
"""

import contextlib
import importlib
import sys
from typing import Any

import click

from otel_trace.errors import OtelTraceError
from otel_trace.version import __version__

COMMANDS = {
    "view": "Show a run: its steps, and one trace as a tree.",
    "runs": "List the runs on this machine, or that a Jaeger or Tempo has.",
    "ship": "Send what is left of a run to the OTLP endpoint.",
}


class LazyGroup(click.Group):
    """A group whose commands stand in modules of their names."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - the same
        """Load one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"otel_trace.cli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - the same
        """Write the table without loading a command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what the person can do something about becomes one line."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except (OtelTraceError, OSError) as error:
            raise click.ClickException(" ".join(str(error).split())) from error


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="otel-trace")
def main() -> None:
    """See inside training: what every rank did in every step."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its escape, not an error.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
