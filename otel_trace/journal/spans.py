"""Records joined into spans: plain data, the same whoever wrote them and whoever reads them.

A span that has a start and no end is open; whether its process lives says if it is still running or was
interrupted. Records of one process may be in any order.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from otel_trace import names
from otel_trace.cluster.process import ProcessKey, host_name, is_alive
from otel_trace.journal.bound import parse_name
from otel_trace.journal.format import Kind
from otel_trace.journal.ledger import merge_tallies
from otel_trace.journal.reader import Damage, SegmentData, read_segment
from otel_trace.journal.values import add_value

KINDS = ("internal", "server", "client", "producer", "consumer")
STATUSES = ("unset", "ok", "error")


@dataclass(slots=True)
class EventData:
    """Something that happened during a span."""

    name: str
    time_ns: int
    attributes: dict[str, Any]


@dataclass(slots=True)
class LinkData:
    """Another span that this one points to."""

    trace_id: str
    span_id: str
    attributes: dict[str, Any]


@dataclass(slots=True)
class ProcessData:
    """One process of a run."""

    key: str
    pid: int
    is_alive: bool
    host: str
    run_id: str
    resource: dict[str, Any]


@dataclass(slots=True)
class SpanData:
    """One span, from whatever source."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str | None
    start_ns: int
    end_ns: int | None
    process: ProcessData
    kind: str = "internal"
    attributes: dict[str, Any] = field(default_factory=dict)
    events: list[EventData] = field(default_factory=list)
    links: list[LinkData] = field(default_factory=list)
    status: str = "unset"
    status_message: str = ""
    scope: str = ""
    scope_version: str = ""
    trace_state: str = ""
    dropped: tuple[int, int, int] = (0, 0, 0)
    last_ns: int = 0

    @property
    def is_open(self) -> bool:
        """Say whether the span has not ended."""
        return self.end_ns is None

    @property
    def is_interrupted(self) -> bool:
        """Say whether the span will never end, since its process is gone."""
        return self.end_ns is None and not self.process.is_alive

    @property
    def resource(self) -> dict[str, Any]:
        """Give the attributes of the process."""
        return self.process.resource


@dataclass(slots=True)
class RunData:
    """Everything that the journals of one run hold."""

    spans: list[SpanData] = field(default_factory=list)
    processes: list[ProcessData] = field(default_factory=list)
    damage: Damage = field(default_factory=Damage)
    ledger: Counter[str] = field(default_factory=Counter)


def read_run(folder: Path) -> RunData:
    """Read the journals of a run from its folder, or from one host's folder in it."""
    run = RunData()
    for key, paths in _group_by_process(folder).items():
        segments = [segment for path in paths if (segment := read_segment(path, run.damage))]
        if segments:
            _join_process(key, segments, run)
    run.ledger["journal"] = len(run.spans)
    run.ledger["created"] = len(run.spans) + sum(
        number for reason, number in run.ledger.items() if reason in {"no_space", "evicted", "removed", "invalid"}
    )
    return run


def _group_by_process(folder: Path) -> dict[tuple[str, ProcessKey], list[Path]]:
    groups: dict[tuple[str, ProcessKey], list[tuple[int, Path]]] = {}
    for path in [*folder.glob("*.seg"), *folder.glob("*/*.seg")]:
        parsed = parse_name(path.name)
        if parsed:
            groups.setdefault((path.parent.name, parsed[0]), []).append((parsed[1], path))
    return {key: [path for _, path in sorted(paths)] for key, paths in sorted(groups.items(), key=str)}


def _join_process(key: tuple[str, ProcessKey], segments: list[SegmentData], run: RunData) -> None:
    header: dict[str, Any] = next((segment.header for segment in segments if segment.header), {})
    host, process_key = key
    process = ProcessData(
        key=f"{host}/{process_key}",
        pid=process_key.pid,
        is_alive=host == host_name() and is_alive(process_key),
        host=host,
        run_id=str(header.get("run_id", "")),
        resource=header.get("resource", {}),
    )
    run.processes.append(process)
    joiner = _Joiner(process, run.damage)
    for segment in segments:
        joiner.add_segment(segment)
    run.spans += joiner.finish()
    run.ledger.update(merge_tallies(joiner.tallies))


class _Joiner:
    """Joins the records of one process: first all starts, then what refers to them."""

    def __init__(self, process: ProcessData, damage: Damage) -> None:
        self.tallies: list[dict[str, Any]] = []
        self._process = process
        self._damage = damage
        self._spans: dict[int, SpanData] = {}
        self._later: list[tuple[list[Any], dict[int, Any]]] = []
        self._last_ns = 0

    def add_segment(self, segment: SegmentData) -> None:
        """Take the starts of a segment, and keep the rest for the end."""
        definitions = {
            record[1]: record[2] for record in segment.records if record[0] == Kind.DEFINITION and len(record) > 2
        }
        for record in segment.records:
            if record[0] == Kind.START:
                self._try(self._start, record, definitions)
            elif record[0] == Kind.TALLY:
                self.tallies.append(record[1] if len(record) > 1 and isinstance(record[1], dict) else {})
            elif record[0] != Kind.DEFINITION:
                self._later.append((record, definitions))

    def finish(self) -> list[SpanData]:
        """Apply what came after the starts; give the spans in order of their start."""
        handlers = {Kind.END: self._end, Kind.EVENT: self._event, Kind.LINK: self._link}
        for record, definitions in self._later:
            handler = handlers.get(record[0])
            if handler is not None:
                self._try(handler, record, definitions)
        for span in self._spans.values():
            span.last_ns = self._last_ns
        return sorted(self._spans.values(), key=lambda span: span.start_ns)

    def _try(self, handler: Any, record: list[Any], definitions: dict[int, Any]) -> None:
        try:
            handler(record, definitions)
        except (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError):
            self._damage.records += 1

    def _resolve(self, value: Any, definitions: dict[int, Any]) -> Any:
        """Give what a reference stands for; nothing is known of a lost definition."""
        if not isinstance(value, list):
            return value
        found = definitions.get(value[0])
        if found is None:
            self._damage.missing_definitions += 1
        return found or {}

    def _start(self, record: list[Any], definitions: dict[int, Any]) -> None:
        _, site_ref, trace, span_id, parent, time, values, *rest = record
        context, more = (*rest, None, None)[:2]
        if span_id in self._spans:
            return
        site = self._resolve(site_ref, definitions)
        more = more or {}
        scope = site.get("scope") or ["", ""]
        attributes = dict(site.get("attributes") or {})
        attributes.update(self._resolve(context, definitions) or {})
        for name, value in zip(site.get("params") or (), values, strict=False):
            add_value(attributes, name, self._resolve(value, definitions))
        attributes.update(more.get("a") or {})
        self._spans[span_id] = SpanData(
            name=str(more.get("n", site.get("name", "?"))),
            trace_id=bytes(trace).hex(),
            span_id=f"{span_id:016x}",
            parent_id=None if parent is None else f"{parent:016x}",
            start_ns=int(time),
            end_ns=None,
            process=self._process,
            kind=KINDS[more.get("k", 0)],
            attributes=attributes,
            scope=str(scope[0]),
            scope_version=str(scope[1] or ""),
            trace_state=more.get("t", ""),
        )
        self._last_ns = max(self._last_ns, int(time))

    def _find(self, record: list[Any]) -> SpanData | None:
        span = self._spans.get(record[1])
        if span is None:
            self._damage.orphans += 1
        return span

    def _end(self, record: list[Any], definitions: dict[int, Any]) -> None:
        span = self._find(record)
        if span is None:
            return
        _, _, time, *rest = record
        result, more = (*rest, None, None)[:2]
        more = more or {}
        span.end_ns = max(int(time), span.start_ns + 1)
        self._last_ns = max(self._last_ns, span.end_ns)
        add_value(span.attributes, names.RETURN, self._resolve(result, definitions))
        if "a" in more:
            span.attributes = dict(more["a"])
        span.name = str(more.get("n", span.name))
        code, message = more.get("s", (0, ""))
        span.status, span.status_message = STATUSES[code], message
        span.dropped = tuple(more.get("d", (0, 0, 0)))

    def _event(self, record: list[Any], definitions: dict[int, Any]) -> None:
        span = self._find(record)
        if span is not None:
            _, _, time, name, attributes = record
            span.events.append(EventData(str(name), int(time), dict(attributes)))
            self._last_ns = max(self._last_ns, int(time))

    def _link(self, record: list[Any], definitions: dict[int, Any]) -> None:
        span = self._find(record)
        if span is not None:
            _, _, trace, linked, attributes = record
            span.links.append(LinkData(bytes(trace).hex(), f"{linked:016x}", dict(attributes)))
