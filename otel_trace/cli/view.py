"""`otel-trace view`: a run on the terminal."""

import time

import click


@click.command()
@click.argument("source", metavar="[RUN]", required=False)
@click.option(
    "--run", metavar="ID", help="Which run, where RUN is a place with several; the newest if not said."
)
@click.option("--trace", "trace_id", metavar="ID", help="Only the trace whose id begins with ID.")
@click.option("--step", type=int, metavar="N", help="Only step N.")
@click.option("--rank", type=int, metavar="R", help="Only what rank R did.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="Spans shown of each trace; 0 shows all, and all steps.",
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object with all spans.")
def view(
    source: str | None,
    run: str | None,
    trace_id: str | None,
    step: int | None,
    rank: int | None,
    limit: int,
    *,
    is_json: bool,
) -> None:
    """Show RUN: its steps, and one trace as a tree.

    RUN is a run's id or its beginning, a path (a journal or a file of OTLP JSON), or the URL of a Jaeger or Tempo;
    without it, the newest run on this machine.
    """
    from otel_trace.view.as_json import format_run
    from otel_trace.view.opening import open_run
    from otel_trace.view.select import Selection, select_traces

    opened = open_run(source, run=run, step=step)
    traces = select_traces(opened, Selection(trace_id=trace_id, step=step, rank=rank))
    if is_json:
        for piece in format_run(opened, traces):
            click.echo(piece, nl=False)
        click.echo()
        return

    from otel_trace.cli.printing import make_console, make_look, print_lines
    from otel_trace.view.screen import draw_run

    console = make_console()
    is_distributed = len(opened.processes) > 1
    look = make_look(console, now_ns=time.time_ns(), limit=limit or None, is_distributed=is_distributed)
    print_lines(console, draw_run(opened, traces, look))
