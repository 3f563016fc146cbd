"""`python -m benchmarks`: a table, or with `--json` one object a line; exit code 1 when a bar is missed."""

import argparse
import sys
from collections.abc import Iterator
from statistics import median

from rich.console import Console
from rich.table import Table

from benchmarks import (
    captured_call,
    disabled_call,
    disk_size,
    logfire_call,
    node_cost,
    shipper,
    start_cost,
    step_time,
    touched_call,
    unsampled_call,
)
from benchmarks.harness import Benchmark, Effort
from benchmarks.result import Row, find_spread

FILES = (
    captured_call,
    touched_call,
    logfire_call,
    unsampled_call,
    disabled_call,
    start_cost,
    disk_size,
    shipper,
    node_cost,
    step_time,
)


def main() -> int:
    """Run the benchmarks that were asked for."""
    benchmarks = {benchmark.name: benchmark for file in FILES for benchmark in file.BENCHMARKS}
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What otel_trace costs.")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument(
        "--only", metavar="NAME", action="append", choices=sorted(benchmarks), help="may be repeated"
    )
    options = parser.parse_args()
    effort = Effort.quick() if options.quick else Effort()
    rows = run([benchmarks[name] for name in options.only or benchmarks], effort)
    return print_json(rows) if options.json else print_table(rows)


def run(benchmarks: list[Benchmark], effort: Effort) -> Iterator[Row]:
    """Yield one row after the other, and say on standard error which one is measured."""
    for benchmark in benchmarks:
        sys.stderr.write(f"{benchmark.name} ...\n")
        sys.stderr.flush()
        yield benchmark.measure(effort)


def print_json(rows: Iterator[Row]) -> int:
    """Print each row as it comes."""
    missed = 0
    for row in rows:
        print(row.to_json(), flush=True)
        missed += not row.is_ok
    return int(missed > 0)


def print_table(rows: Iterator[Row]) -> int:
    """Print the table when all is measured."""
    table = Table(
        title="CPU of the tracing process, median of pairs (25th to 75th percentile)", title_justify="left"
    )
    for name in ("name", "ours", "theirs", "figure", "spread", "bar", "ok"):
        table.add_column(name, justify="left" if name == "name" else "right", no_wrap=True)
    missed, notes = 0, []
    for row in rows:
        low, high = find_spread(row.figures)
        table.add_row(
            row.name,
            f"{median(row.ours):.2f} {row.unit}",
            f"{median(row.theirs):.2f} {row.unit}",
            f"{row.bar.measure} = {median(row.figures):.2f}",
            f"{low:.2f} .. {high:.2f}",
            str(row.bar),
            "yes" if row.is_ok else "NO",
        )
        missed += not row.is_ok
        notes += [f"{row.name}: {row.note}"] if row.note else []
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    for note in notes:
        print(note)
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
