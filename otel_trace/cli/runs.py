"""`otel-trace runs`: the runs whose journals stand on this machine."""

import click


@click.command()
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def runs(*, is_json: bool) -> None:
    """List the runs on this machine, newest first."""
    from otel_trace.journal.place import journal_root
    from otel_trace.journal.runs import find_runs
    from otel_trace.view.as_json import format_json
    from otel_trace.view.listing import describe_runs, list_runs

    root = journal_root()
    found = find_runs(root)
    if is_json:
        click.echo(format_json(describe_runs(root, found)))
        return
    if not found:
        click.echo(f"No runs in {root}.")
        return

    from rich.text import Text

    from otel_trace.cli.printing import make_console, print_lines

    console = make_console()
    print_lines(console, map(Text, list_runs(found, width=console.width)))
