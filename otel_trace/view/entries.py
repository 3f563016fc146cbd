"""List what hangs directly below a span in the tree: its shown children, its events, and counts of what is hidden.

The exception with which a span failed is told on the span's own line, so it is no entry.
"""

from dataclasses import dataclass

from otel_trace.journal.spans import EventData
from otel_trace.view.facts import find_error_event, get_last_ns, get_rank
from otel_trace.view.model import Span, Trace
from otel_trace.view.shortlist import Hidden, Shortlist

MAX_EVENTS = 10
_NUM_FIRST = 7


@dataclass(frozen=True, slots=True)
class Entry:
    """One line-to-be: a span, an event of it, or a count of spans or events that are hidden at this place."""

    time_ns: int
    span: Span | None
    event: EventData | None = None
    hidden: Hidden | None = None
    num_events: int = 0

    @property
    def is_leaf(self) -> bool:
        """Tell whether nothing can hang below."""
        return self.event is not None or self.hidden is not None or self.num_events > 0


def list_entries(span: Span | None, trace: Trace, shortlist: Shortlist) -> list[Entry]:
    """Return what hangs below `span`, or the roots for None, in the order of time; ranks one after the other."""
    children = trace.roots if span is None else trace.children(span)
    entries = [Entry(child.start_ns, child) for child in children if child.span_id in shortlist.shown]
    if span is not None:
        entries.extend(_list_events(span, has_all=shortlist.has_all))
    entries.sort(key=_get_order)
    hidden = shortlist.hidden.get(span.span_id if span else None)
    if hidden is not None:
        entries.append(Entry(get_last_ns(span) if span else 0, span, hidden=hidden))
    return entries


def _get_order(entry: Entry) -> tuple[int, int]:
    """Ranks run side by side, and their clocks differ: which was first by a hair says nothing."""
    return (get_rank(entry.span.process) or 0 if entry.span else 0, entry.time_ns)


def _list_events(span: Span, *, has_all: bool) -> list[Entry]:
    told = find_error_event(span)
    entries = [Entry(event.time_ns, span, event) for event in span.events if event is not told]
    if has_all or len(entries) <= MAX_EVENTS:
        return entries
    last = entries[_NUM_FIRST - MAX_EVENTS + 1 :]
    middle = entries[_NUM_FIRST : len(entries) - len(last)]
    return [*entries[:_NUM_FIRST], Entry(middle[0].time_ns, span, num_events=len(middle)), *last]
