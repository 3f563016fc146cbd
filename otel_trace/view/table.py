"""Lay out a small table in plain text: columns as wide as they must be, no wider than the screen."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size

_GAP = "  "
_MIN_CUT = 8


def lay_out_table(rows: Sequence[Sequence[str]], *, width: int, num_left: int = 1) -> Iterator[str]:
    """Yield a line per row; the last `num_left` columns begin at the left, the others end at the right."""
    num_columns = max(map(len, rows), default=0)
    widths = [
        max((cell_len(row[at]) for row in rows if at < len(row)), default=0) for at in range(num_columns)
    ]
    kept = _keep_columns(widths, width, num_left)
    for row in rows:
        cells = [
            _fit(row[at] if at < len(row) else "", widths[at], is_left=at >= num_columns - num_left)
            for at in kept
        ]
        yield _cut(_GAP.join(cells).rstrip(), width)


def _keep_columns(widths: Sequence[int], width: int, num_left: int) -> list[int]:
    """Return the columns that are not empty, less those in the middle that leave the last one no room."""
    kept = [at for at, size in enumerate(widths) if size]
    fixed = len(widths) - num_left
    while len(kept) > 2 and _measure(kept, widths) > width:
        middle = [at for at in kept if 2 <= at < fixed]
        if not middle:
            break
        kept.remove(middle[-1])
    return kept


def _measure(kept: Sequence[int], widths: Sequence[int]) -> int:
    last = min(widths[kept[-1]], _MIN_CUT)
    return sum(widths[at] + len(_GAP) for at in kept[:-1]) + last


def _fit(text: str, size: int, *, is_left: bool) -> str:
    return text + " " * (size - cell_len(text)) if is_left else " " * (size - cell_len(text)) + text


def _cut(line: str, width: int) -> str:
    return line if cell_len(line) <= width else f"{set_cell_size(line, width - 3).rstrip()}..."
