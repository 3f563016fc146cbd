"""The records of one process joined into spans, in whatever order they are.

First all starts, then what refers to them. A record that is not what its kind promises is counted as damage
and takes nothing with it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from otel_trace import names
from otel_trace.journal.format import Kind
from otel_trace.journal.reader import Damage, SegmentData
from otel_trace.journal.span_data import KINDS, STATUSES, EventData, LinkData, ProcessData, SpanData
from otel_trace.journal.values import add_value, bound_attributes

_START, _DEFINITION, _TALLY = int(Kind.START), int(Kind.DEFINITION), int(Kind.TALLY)
_NOTHING: dict[str, Any] = {}
_MAX_NAMED = 50_000


class Definitions:
    """What the numbers in one segment stand for."""

    def __init__(self, records: list[list[Any]], damage: Damage) -> None:
        self._damage = damage
        self._by_number: dict[Any, dict[str, Any]] = {}
        self._sites: dict[Any, Site] = {}
        self._named: dict[tuple[str, Any], Shared] = {}
        for record in records:
            if record[0] == _DEFINITION:
                self.add(record)

    def add(self, record: list[Any]) -> None:
        """Take one definition."""
        if len(record) > 2 and type(record[1]) is int and type(record[2]) is dict:
            self._by_number[record[1]] = record[2]
        else:
            self._damage.records += 1

    def resolve(self, value: Any) -> Any:
        """Give what a reference stands for, any other value itself; nothing is known of a lost definition."""
        if value.__class__ is not list:
            return value
        found = self._by_number.get(value[0])
        if found is None:
            self._damage.missing_definitions += 1
            return _NOTHING
        return found

    def named(self, name: str, reference: list[int]) -> "Shared":
        """Give the attributes that a reference comes to under a name; made once, since so many spans share them."""
        key = (name, reference[0])
        shared = self._named.get(key)
        if shared is None:
            shared = Shared()
            add_value(shared, name, self.resolve(reference))
            if len(self._named) < _MAX_NAMED and reference[0] in self._by_number:
                self._named[key] = shared
        return shared

    def site(self, reference: list[int]) -> "Site":
        """Give a site, read once."""
        site = self._sites.get(reference[0])
        if site is None:
            data = self.resolve(reference)
            site = Site(data)
            if data is not _NOTHING:
                self._sites[reference[0]] = site
        return site


class Shared(dict[str, Any]):
    """Attributes that many spans share; `encoded` is for whoever sends them."""

    __slots__ = ("encoded",)
    encoded: bytes


class Site:
    """What all calls of one function share."""

    __slots__ = ("attributes", "name", "params", "scope", "version")

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.name = str(data.get("name", "?"))
        self.scope, self.version, *_ = [str(part or "") for part in data.get("scope") or ("", "")]
        self.attributes = Shared(data.get("attributes") or {})
        self.params = [str(name) for name in data.get("params") or ()]


class Joiner:
    """Joins the records of one process."""

    def __init__(self, process: ProcessData, damage: Damage) -> None:
        self.tallies: list[dict[str, Any]] = []
        self.missing_starts = 0
        self._process = process
        self._damage = damage
        self._spans: dict[int, SpanData] = {}
        self._later: list[tuple[list[Any], Definitions]] = []
        self._last_ns = 0

    def add_segment(self, segment: SegmentData) -> None:
        """Take the starts of a segment, and keep the rest for the end."""
        definitions = Definitions(segment.records, self._damage)
        num_starts = 0
        for record in segment.records:
            kind = record[0]
            if kind == _START:
                num_starts += 1
                self._try(self._start, record, definitions)
            elif kind == _TALLY:
                self._take_tally(record, num_starts)
            elif kind != _DEFINITION:
                self._later.append((record, definitions))

    def _take_tally(self, record: list[Any], num_starts: int) -> None:
        """Keep a tally; the final one also knows how many spans began in the segment."""
        if len(record) > 1 and isinstance(record[1], dict):
            self.tallies.append(record[1])
        if len(record) > 2 and type(record[2]) is int:
            self.missing_starts += max(0, record[2] - num_starts)

    def finish(self) -> list[SpanData]:
        """Apply what came after the starts; give the spans in order of their start."""
        handlers: dict[int, Callable[..., None]] = {
            Kind.END: self._end,
            Kind.EVENT: self._event,
            Kind.LINK: self._link,
        }
        for record, definitions in self._later:
            handler = handlers.get(record[0])
            if handler is not None:
                self._try(handler, record, definitions)
        for span in self._spans.values():
            span.last_ns = self._last_ns
            bound_span(span)
        return sorted(self._spans.values(), key=lambda span: span.start_ns)

    def _try(self, handler: Callable[..., None], record: list[Any], definitions: Definitions) -> None:
        try:
            handler(record, definitions)
        except (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError):
            self._damage.records += 1

    def _start(self, record: list[Any], definitions: Definitions) -> None:
        _, site_ref, trace, span_id, parent, time, values, *rest = record
        if span_id in self._spans:
            return
        site = definitions.site(site_ref)
        context, more = (*rest, None, None)[:2] if rest else (None, None)
        more = more or _NOTHING
        attributes = self._gather(site, context, values, definitions)
        if more:
            attributes.update(more.get("a") or _NOTHING)
        start_ns = _read_time(time)
        self._spans[span_id] = SpanData(
            str(more["n"]) if "n" in more else site.name,
            _read_trace(trace),
            _read_span(span_id),
            None if parent is None else _read_span(parent),
            start_ns,
            None,
            self._process,
            KINDS[more.get("k", 0)],
            attributes,
            scope=site.scope,
            scope_version=site.version,
            trace_state=str(more.get("t", "")),
            is_parent_remote=bool(more.get("r")),
        )
        self._last_ns = max(self._last_ns, start_ns)

    def _gather(
        self, site: Site, context: Any, values: list[Any], definitions: Definitions
    ) -> dict[str, Any]:
        """Give the attributes of a span at its start, in the order of its parameters."""
        attributes = dict(site.attributes)
        if context is not None:
            attributes.update(self._name(context, "", definitions))
        for name, value in zip(site.params, values, strict=False):
            if value.__class__ is list:
                attributes.update(definitions.named(name, value))
            else:
                add_value(attributes, name, value)
        return attributes

    @staticmethod
    def _name(value: Any, name: str, definitions: Definitions) -> Mapping[str, Any]:
        """Give the attributes of a reference, or of facts that stand in its place."""
        if value.__class__ is list:
            return definitions.named(name, value)
        return {name + suffix: fact for suffix, fact in value.items()}

    def _find(self, record: list[Any]) -> SpanData | None:
        span = self._spans.get(record[1])
        if span is None:
            self._damage.orphans += 1
        return span

    def _end(self, record: list[Any], definitions: Definitions) -> None:
        span = self._find(record)
        if span is None:
            return
        _, _, time, *rest = record
        span.end_ns = end_ns = max(_read_time(time), span.start_ns + 1)
        self._last_ns = max(self._last_ns, end_ns)
        if not rest:
            return
        result, more = (*rest, None)[:2]
        if result.__class__ is list:
            self._add_shared(span, definitions.named(names.RETURN, result))
        elif result is not None:
            add_value(span.attributes, names.RETURN, result)
        if more:
            _apply_more(span, more)

    def _add_shared(self, span: SpanData, shared: Shared) -> None:
        span.attributes.update(shared)

    def _event(self, record: list[Any], definitions: Definitions) -> None:  # noqa: ARG002 (called like the others)
        span = self._find(record)
        if span is not None:
            _, _, time, name, attributes, *_ = record
            span.events.append(EventData(str(name), _read_time(time), dict(attributes)))
            self._last_ns = max(self._last_ns, time)

    def _link(self, record: list[Any], definitions: Definitions) -> None:  # noqa: ARG002 (called like the others)
        span = self._find(record)
        if span is not None:
            _, _, trace, linked, attributes, *_ = record
            span.links.append(LinkData(_read_trace(trace), _read_span(linked), dict(attributes)))


def bound_span(span: SpanData) -> None:
    """Leave a span as many attributes as it may have; the others are counted."""
    num_dropped = bound_attributes(span.attributes)
    if num_dropped:
        span.dropped = (span.dropped[0] + num_dropped, *span.dropped[1:])


def _apply_more(span: SpanData, more: dict[str, Any]) -> None:
    """Apply what an end tells beyond the usual: the span's final name, attributes, status and losses."""
    if "a" in more:
        span.attributes = dict(more["a"])
    if "x" in more:
        _add_extra(span.attributes, more["x"])
    if "n" in more:
        span.name = str(more["n"])
    if "s" in more:
        code, message = more["s"]
        span.status, span.status_message = STATUSES[code], str(message)
    if "d" in more:
        attributes, events, links = more["d"]
        span.dropped = (int(attributes), int(events), int(links))


def _add_extra(attributes: dict[str, Any], extra: dict[str, Any]) -> None:
    """Add what was set during the span to what was known at its start."""
    words = [*attributes.get(names.UNREPRESENTABLE, ()), *extra.get(names.UNREPRESENTABLE, ())]
    attributes.update(extra)
    if words:
        attributes[names.UNREPRESENTABLE] = words


def _read_time(time: Any) -> int:
    if type(time) is int:
        return time
    raise TypeError("a time is an integer")


def _read_trace(trace: Any) -> str:
    if type(trace) is bytes and len(trace) == 16:
        return trace.hex()
    raise TypeError("a trace id is 16 bytes")


def _read_span(span_id: Any) -> str:
    if type(span_id) is int and span_id >= 0:
        return f"{span_id:016x}"
    raise TypeError("a span id is an integer of 64 bits")
