"""Choose the spans of a trace that fit on the screen, and count those that do not, at the place where they are.

What failed or never ended comes first, with the spans above it; then level by level from the roots, so that the outline
of the trace is whole before any branch goes deep. A shown span's parent is always shown.
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from otel_trace.view.facts import is_notable
from otel_trace.view.model import Span, Trace


@dataclass(frozen=True, slots=True)
class Hidden:
    """Spans that are not shown below one span."""

    num_spans: int = 0
    num_notable: int = 0


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The ids of the spans to show, and what is hidden below each of them (below None: roots)."""

    shown: Collection[str]
    hidden: dict[str | None, Hidden]
    has_all: bool = False


def choose_spans(trace: Trace, limit: int | None) -> Shortlist:
    """Return which spans of `trace` to show when only `limit` fit; None shows all."""
    if limit is None or len(trace.spans) <= limit:
        return Shortlist({span.span_id for span in trace.spans}, {}, has_all=limit is None)
    shown: set[str] = set()
    notable = _find_notable(trace)
    for span in (*_walk_levels(trace, notable), *_walk_levels(trace)):
        if len(shown) >= limit:
            break
        shown.add(span.span_id)
    return Shortlist(shown, _count_hidden(trace, shown))


def _find_notable(trace: Trace) -> set[str]:
    """Return the ids of the notable spans and of all above them."""
    found: set[str] = set()
    for span in filter(is_notable, trace.spans):
        above: Span | None = span
        while above is not None and above.span_id not in found:
            found.add(above.span_id)
            above = trace.parent(above)
    return found


def _walk_levels(trace: Trace, only: Collection[str] | None = None) -> Iterator[Span]:
    queue = deque(trace.roots)
    while queue:
        span = queue.popleft()
        if only is None or span.span_id in only:
            yield span
            queue.extend(trace.children(span))


def _count_hidden(trace: Trace, shown: Collection[str]) -> dict[str | None, Hidden]:
    hidden: dict[str | None, Hidden] = {}
    for owner, span in _pair_with_shown(trace, shown):
        known = hidden.get(owner, Hidden())
        hidden[owner] = Hidden(known.num_spans + 1, known.num_notable + is_notable(span))
    return hidden


def _pair_with_shown(trace: Trace, shown: Collection[str]) -> Iterable[tuple[str | None, Span]]:
    """Yield each hidden span with the id of the nearest shown span above it."""
    stack: list[tuple[str | None, Span]] = [(None, span) for span in trace.roots]
    while stack:
        owner, span = stack.pop()
        if span.span_id in shown:
            owner = span.span_id
        else:
            yield owner, span
        stack.extend((owner, child) for child in trace.children(span))
