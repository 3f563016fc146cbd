"""`otel-trace runs`: the runs whose journals stand on this machine, or those that a Jaeger or Tempo has seen."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from otel_trace.view.listing import Listing


@click.command()
@click.argument("url", required=False)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def runs(url: str | None, *, is_json: bool) -> None:
    """List the runs on this machine, newest first.

    With the URL of a Jaeger or Tempo, the runs that it has seen lately.
    """
    from otel_trace.view.as_json import format_json
    from otel_trace.view.listing import draw_listing

    listing = _ask_backend(url) if url else _look_here()
    if is_json:
        click.echo(format_json(listing.data))
        return

    from rich.text import Text

    from otel_trace.cli.printing import make_console, print_lines

    console = make_console()
    print_lines(console, map(Text, draw_listing(listing, width=console.width)))


def _look_here() -> "Listing":
    from otel_trace.journal.place import journal_root
    from otel_trace.journal.runs import find_runs
    from otel_trace.view.listing import list_folders

    root = journal_root()
    return list_folders(root, find_runs(root))


def _ask_backend(url: str) -> "Listing":
    from otel_trace.view.listing import list_remote
    from otel_trace.view.sources.remote import find_remote_runs

    return list_remote(*find_remote_runs(url))
