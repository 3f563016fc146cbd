"""`otel-trace ship`: what is left of a run goes to the endpoint; with `--follow`, all runs of this node, for ever."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from otel_trace.ship.senders import LazySender
    from otel_trace.ship.service import Shipment


@click.command()
@click.argument("source", metavar="[RUN]", required=False)
@click.option("--follow", is_flag=True, help="Ship all runs of this node below the folder RUN, until ended.")
@click.option(
    "--patience",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for an endpoint that does not answer.",
)
@click.pass_context
def ship(ctx: click.Context, source: str | None, *, follow: bool, patience: float) -> None:
    """Send what is left of a run to the OTLP endpoint of the environment.

    RUN is a run's id or its beginning, or a folder of journals; without it, the newest run on this machine. What
    has been delivered before is not sent again. The exit code is 0 when nothing is left.
    """
    from otel_trace.ship.senders import LazySender

    sender = LazySender(_tell)
    try:
        if follow:
            _follow(source, sender)
        else:
            _ship_rest(ctx, source, sender, patience)
    finally:
        sender.close()


def _follow(source: str | None, sender: "LazySender") -> None:
    import signal

    from otel_trace.journal.place import journal_root
    from otel_trace.ship.service import Service

    root = Path(source) if source else journal_root()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _tell(f"shipping the runs below {root} to {sender.endpoint}")
    try:
        Service(root, sender, _tell).run()
    except KeyboardInterrupt:
        _tell("ended; what is left stays in the journals")


def _ship_rest(ctx: click.Context, source: str | None, sender: "LazySender", patience: float) -> None:
    from otel_trace.ship.service import ship_rest

    is_whole = True
    for folder in _find_folders(source):
        shipment = ship_rest(folder, sender, _tell, patience)
        is_whole &= shipment.waiting == 0
        for line in describe_shipment(shipment, sender.endpoint):
            click.echo(line)
    ctx.exit(0 if is_whole else 1)


def _find_folders(source: str | None) -> list[Path]:
    """Give the folder of each host in the run that is meant."""
    from otel_trace.journal.place import journal_root
    from otel_trace.view.sources.journal import find_at, find_by_id, find_newest

    if source is None:
        run = find_newest(journal_root())
    else:
        path = Path(source).expanduser()
        if path.is_dir() and any(path.glob("*.seg")):
            return [path.absolute()]
        run = find_at(path) if path.is_dir() else find_by_id(journal_root(), source)
    return sorted({segment.parent for segment in run.glob("*/*.seg")})


def describe_shipment(shipment: "Shipment", endpoint: str) -> list[str]:
    """Say what was delivered, what stays and why, and what was given up."""
    name = f"{shipment.folder.parent.name} on {shipment.folder.name}"
    if shipment.is_busy:
        return [f"{name}: a shipper is at work; {count(shipment.waiting)} not delivered yet"]
    state = shipment.state
    lines = [f"{name}: {count(shipment.delivered)} delivered to {endpoint}"]
    if shipment.waiting:
        why = (state.message if state else "") or "their processes are still running"
        lines.append(f"  {count(shipment.waiting)} stay in {shipment.folder}: {why}")
    else:
        lines.append("  nothing is left")
    if state and state.dropped:
        reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(state.dropped.items()))
        lines.append(f"  given up: {reasons}{f' ({state.notice})' if state.notice else ''}")
    if state and state.oversized:
        lines.append(f"  {count(state.oversized)} in traces larger than the 5 MB that Tempo keeps")
    return lines


def count(number: int) -> str:
    """Say how many spans."""
    return f"{number:,} span" + ("" if number == 1 else "s")


def _tell(message: str) -> None:
    click.echo(message, err=True)
