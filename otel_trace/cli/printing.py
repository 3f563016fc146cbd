"""Print lines to the terminal, or plain to a pipe."""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from otel_trace.view.look import ASCII_GUIDES, Guides, Look

_MIN_WIDTH = 40
_MAX_WIDTH = 160


def make_console() -> Console:
    """Return a console that prints what it is given: no markup, no emoji codes, no highlighting."""
    return Console(markup=False, emoji=False, highlight=False, soft_wrap=True)


def make_look(console: Console, *, now_ns: int, limit: int | None, is_distributed: bool) -> Look:
    """Return how to draw on that console."""
    guides = Guides() if console.encoding.startswith("utf") else ASCII_GUIDES
    width = min(max(console.width, _MIN_WIDTH), _MAX_WIDTH)
    return Look(now_ns, width=width, guides=guides, limit=limit, is_distributed=is_distributed)


def print_lines(console: Console, lines: Iterable[Text]) -> None:
    """Print each line as it comes."""
    for line in lines:
        line.end = "\n"
        console.print(line)
