"""Put one entry of the tree into words: a list of pieces, each with its style."""

from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from otel_trace import names
from otel_trace.view.details import MAX_PIECES, list_details
from otel_trace.view.entries import Entry
from otel_trace.view.facts import ErrorFacts, find_error, find_place, get_elapsed_ns, get_rank, is_exception
from otel_trace.view.happenings import list_event_words, say_error
from otel_trace.view.look import Look
from otel_trace.view.model import Span, Trace
from otel_trace.view.plain import clean_text
from otel_trace.view.shortlist import Hidden
from otel_trace.view.units import format_duration

_MAX_NAME = 120
_ERROR = "bold red"
_OPEN = "bold yellow"


def say_time(entry: Entry, now_ns: int) -> str:
    """Return what stands in the column of times."""
    if entry.hidden is not None or entry.num_events or entry.span is None:
        return ""
    if entry.event is not None:
        return f"+{format_duration(max(entry.event.time_ns - entry.span.start_ns, 0))}"
    return f"{'>' if entry.span.is_open else ''}{format_duration(get_elapsed_ns(entry.span, now_ns))}"


def say_entry(entry: Entry, below: Sequence[Entry], trace: Trace, look: Look) -> list[Text]:
    """Return the words for one line of the tree; `below` is what will be shown below it."""
    if entry.hidden is not None:
        return [Text(say_hidden(entry.hidden), style="dim")]
    if entry.num_events:
        return [Text(f"... {entry.num_events:,} more events", style="dim")]
    if entry.span is None:
        return []
    if entry.event is not None:
        style = _ERROR if is_exception(entry.event) else "cyan"
        words = list_event_words(entry.event, entry.span.attributes.get(names.FILE))
        return [Text(word, style=style if number == 0 else "") for number, word in enumerate(words)]
    return list(_say_span(entry.span, below, trace, look))


def say_hidden(hidden: Hidden) -> str:
    """Return `... 4,321 more, 2 with errors or open`."""
    text = f"... {hidden.num_spans:,} more"
    return f"{text}, {hidden.num_notable:,} with errors or open" if hidden.num_notable else text


def _say_span(span: Span, below: Sequence[Entry], trace: Trace, look: Look) -> Iterator[Text]:
    error = find_error(span)
    yield Text(clean_text(span.name, _MAX_NAME), style=_ERROR if error else "bold")
    if look.is_distributed and (who := _say_process(span, trace.parent(span))):
        yield Text(who, style="magenta")
    if span.is_open:
        yield Text(_say_open(span, look.now_ns), style=_OPEN)
    max_pieces = None if look.limit is None else MAX_PIECES
    yield from (Text(piece) for piece in list_details(span.attributes, max_pieces=max_pieces))
    is_passing = error is not None and _is_said_below(error, below)
    if error is not None:
        yield Text(say_error(error, is_short=is_passing), style=_ERROR)
    if (error or span.is_open) and not is_passing:
        place = (error.place if error else "") or find_place(span.attributes)
        yield from ([Text(f"({clean_text(place)})", style="dim")] if place else [])


def _say_process(span: Span, parent: Span | None) -> str:
    """Return the rank or process where it is another than the parent's and the name does not say it."""
    if parent is not None and parent.process.key == span.process.key:
        return ""
    rank = get_rank(span.process)
    who = f"pid {span.process.pid}" if rank is None else f"rank {rank}"
    return "" if span.name.startswith(who) else f"[{who}]"


def _say_open(span: Span, now_ns: int) -> str:
    if span.is_interrupted:
        return "(interrupted)"
    return f"(open, {format_duration(get_elapsed_ns(span, now_ns))} so far)"


def _is_said_below(error: ErrorFacts, below: Iterable[Entry]) -> bool:
    """Tell whether a span below failed with the same error, on its way up."""
    spans = (entry.span for entry in below if not entry.is_leaf)
    return any(error.is_same_as(find_error(span)) for span in spans if span is not None)
