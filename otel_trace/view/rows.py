"""Lay out rows of pieces: a column for the time, the guides of the tree, then as many pieces as fit on the line.

A piece is never torn while it fits on a line of its own; the lines that follow keep the guides, so that the tree stays
readable at 80 columns. Below a depth that the width allows, guides stop growing and a number says the depth.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells
from rich.text import Text

from otel_trace.view.look import Guides

TIME_WIDTH = 9
_GAP = "  "
_INDENT = 3
_MIN_TEXT = 44


@dataclass(frozen=True, slots=True)
class Row:
    """One entry of the tree before it is laid out; `branches` says for each level above whether more follows there."""

    time: str
    pieces: list[Text]
    branches: tuple[bool, ...] = ()
    depth: int = 0
    has_below: bool = False


def get_max_depth(width: int) -> int:
    """Return how many levels of guides leave enough room for text."""
    return max((width - TIME_WIDTH - len(_GAP) - _MIN_TEXT) // _INDENT, 2)


def lay_out_row(row: Row, *, width: int, guides: Guides) -> Iterator[Text]:
    """Yield the lines of a row, none wider than `width`."""
    first, rest = _draw_guides(row, guides)
    room = max(width - TIME_WIDTH - len(_GAP) - cell_len(first), 4 * _INDENT)
    time = Text(f"{row.time:>{TIME_WIDTH}}{_GAP}")
    blank = Text(" " * time.cell_len)
    for number, line in enumerate(fill_lines(row.pieces, room)):
        yield _join(blank, rest, line) if number else _join(time, first, line)


def _join(time: Text, guide: str, line: Text) -> Text:
    text = Text.assemble(time, (guide, "dim"), line, no_wrap=True, end="")
    text.rstrip()
    return text


def _draw_guides(row: Row, guides: Guides) -> tuple[str, str]:
    mark = f"[{row.depth}] " if row.depth > len(row.branches) else ""
    below = guides.line if row.has_below else guides.none
    if not row.branches:
        return mark, below
    above = "".join(guides.line if more else guides.none for more in row.branches[:-1])
    more = row.branches[-1]
    first = above + (guides.fork if more else guides.last) + mark
    return first, above + (guides.line if more else guides.none) + below


def fill_lines(pieces: Iterable[Text], first_room: int, gap: str = _GAP) -> Iterator[Text]:
    """Yield lines with as many pieces as fit; those after the first are indented by whoever draws them."""
    line, room = Text(), first_room
    rest_room = first_room - _INDENT
    for before, part in (token for piece in pieces for token in _split_piece(piece, rest_room, gap)):
        if line.plain and line.cell_len + len(before) + part.cell_len > room:
            yield line
            line, room = Text(), rest_room
        line.append(before if line.plain else "").append_text(part)
    yield line


def _split_piece(piece: Text, room: int, gap: str) -> Iterator[tuple[str, Text]]:
    """Yield a piece whole, or its words where it is wider than a line, each with the gap before it."""
    if piece.cell_len <= room:
        yield gap, piece
        return
    for word in piece.plain.split(" "):
        for part in chop_cells(word, room):
            yield gap, Text(part, style=piece.style)
            gap = ""
        gap = " "
