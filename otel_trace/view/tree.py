"""Draw one trace as a tree: a line per span in the order of time, its events among its children.

      41.2 ms  step  loss=0.31
       1.2 ms  ├─ data
      12.0 ms  ├─ forward  x=float32[8, 16] cpu  -> float32[8, 4] cpu
     +13.1 ms  ├─ loss = 0.31  (was 0.35)  train.py:12
     >20.1 s   └─ backward  (interrupted)  train.py:40

The column on the left is time: how long a span took, or when after the start of its span an event happened. The tree
is walked with a stack of its own, so a trace may be deeper than Python's.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

from otel_trace.view.entries import Entry, list_entries
from otel_trace.view.look import Look
from otel_trace.view.model import Trace
from otel_trace.view.rows import Row, get_max_depth, lay_out_row
from otel_trace.view.saying import say_entry, say_time
from otel_trace.view.shortlist import choose_spans


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an entry stands in the tree; `branches` says for each level whether more follows there."""

    entry: Entry
    branches: tuple[bool, ...] = ()
    depth: int = 0


def draw_trace(trace: Trace, look: Look) -> Iterator[Text]:
    """Yield the lines of one trace."""
    shortlist = choose_spans(trace, look.limit)
    max_depth = get_max_depth(look.width)
    stack = [_Place(entry) for entry in reversed(list_entries(None, trace, shortlist))]
    while stack:
        place = stack.pop()
        below = [] if place.entry.is_leaf else list_entries(place.entry.span, trace, shortlist)
        yield from lay_out_row(_make_row(place, below, trace, look), width=look.width, guides=look.guides)
        for entry in reversed(below):
            branches = (*place.branches[: max_depth - 1], entry is not below[-1])
            stack.append(_Place(entry, branches, place.depth + 1))


def _make_row(place: _Place, below: list[Entry], trace: Trace, look: Look) -> Row:
    return Row(
        time=say_time(place.entry, look.now_ns),
        pieces=say_entry(place.entry, below, trace, look),
        branches=place.branches,
        depth=place.depth,
        has_below=bool(below),
    )
