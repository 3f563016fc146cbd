"""Ask Jaeger and Tempo what they have, and get spans as plain data that can be compared with each other.

The two answer with the same OTLP JSON and differ in the details: ids are hex in Jaeger and base64 in Tempo, int64 are
strings, and what is zero or empty is left out.
"""

import base64
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

Json = dict[str, Any]
JAEGER_WARNINGS = "@jaeger@warnings"


@dataclass(frozen=True)
class StoredEvent:
    """An event as a backend has it."""

    name: str
    time_ns: int
    attributes: Json


@dataclass(frozen=True)
class StoredLink:
    """A link as a backend has it."""

    trace_id: str
    span_id: str
    attributes: Json


@dataclass(frozen=True)
class StoredSpan:
    """A span as a backend has it; ids are hex, a root's parent is ""."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    start_ns: int
    end_ns: int
    kind: int
    status: int
    status_message: str
    attributes: Json
    events: tuple[StoredEvent, ...]
    links: tuple[StoredLink, ...]
    scope: str
    resource: Json
    # What Jaeger remarks while it reads; it stays, even when it was only that the parent had not arrived yet.
    warnings: tuple[str, ...] = field(default=(), compare=False)


class JaegerClient:
    """Jaeger's query API."""

    def __init__(self, url: str) -> None:
        """Take the base URL of the query service."""
        self.url = url

    def read(self, trace_id: str) -> list[StoredSpan]:
        """Return the spans of a trace by `/api/v3`, or none when it is not known."""
        answer = get_json(f"{self.url}/api/v3/traces/{trace_id}")
        return (
            list(read_otlp(answer.get("result", {}).get("resourceSpans", []), hex_id=str)) if answer else []
        )

    def read_page(self, trace_id: str) -> Json:
        """Return the trace as Jaeger's own page gets it, by `/api/traces`; empty when it is not known."""
        answer = get_json(f"{self.url}/api/traces/{trace_id}")
        return answer["data"][0] if answer else {}

    def search(self, service: str, **tags: str) -> list[Json]:
        """Return the traces of a service, with a span that has these tags, as the page gets them."""
        query = {"service": service, "limit": "1000"} | ({"tags": json.dumps(tags)} if tags else {})
        answer = get_json(f"{self.url}/api/traces?{urllib.parse.urlencode(query)}")
        return list(answer["data"]) if answer else []

    def list_services(self) -> list[str]:
        """Return the names of all services."""
        answer = get_json(f"{self.url}/api/services")
        return sorted(answer["data"] or []) if answer else []

    def wait_for(self, trace_id: str, num_spans: int, *, seconds: float = 5.0) -> list[StoredSpan]:
        """Return the trace as soon as it has that many spans; what there is when the time is over."""
        return wait_for_spans(lambda: self.read(trace_id), num_spans, seconds)


class TempoClient:
    """Tempo's query API."""

    def __init__(self, url: str) -> None:
        """Take the base URL of the server."""
        self.url = url

    def read(self, trace_id: str) -> list[StoredSpan]:
        """Return the spans of a trace by `/api/v2/traces`, or none when it is not known."""
        answer = get_json(f"{self.url}/api/v2/traces/{trace_id}")
        resource_spans = answer.get("trace", {}).get("resourceSpans", []) if answer else []
        return list(read_otlp(resource_spans, hex_id=base64_to_hex))

    def search(self, traceql: str, *, limit: int = 100) -> list[Json]:
        """Return the traces that match a TraceQL query, with their matching spans, as Tempo tells them."""
        query = urllib.parse.urlencode({"q": traceql, "limit": limit, "spss": limit})
        answer = get_json(f"{self.url}/api/search?{query}")
        return list(answer.get("traces", [])) if answer else []

    def wait_for_search(self, traceql: str, *, seconds: float = 30.0) -> list[Json]:
        """Return the traces that match as soon as there are any: Tempo's search lags some seconds."""
        deadline = time.monotonic() + seconds
        while not (found := self.search(traceql)) and time.monotonic() < deadline:
            time.sleep(0.2)
        return found

    def wait_for(self, trace_id: str, num_spans: int, *, seconds: float = 5.0) -> list[StoredSpan]:
        """Return the trace as soon as it has that many spans; what there is when the time is over."""
        return wait_for_spans(lambda: self.read(trace_id), num_spans, seconds)


def wait_for_spans(read: Callable[[], list[StoredSpan]], num_spans: int, seconds: float) -> list[StoredSpan]:
    """Call `read` until it returns enough spans or the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        spans = read()
        if len(spans) >= num_spans or time.monotonic() > deadline:
            return spans
        time.sleep(0.1)


def get_json(url: str) -> Json | None:
    """Return a JSON answer; None for "not found"."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            body = answer.read()
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 404:
                return None
            message = f"{url} answered {error.code}: {error.read()[:500]!r}"
        raise AssertionError(message) from None
    return json.loads(body) if body else {}


def base64_to_hex(text: str) -> str:
    """Return an id of Tempo as hex."""
    return base64.b64decode(text).hex()


def read_otlp(resource_spans: list[Json], *, hex_id: Callable[[str], str]) -> Iterator[StoredSpan]:
    """Yield the spans of OTLP JSON."""
    for group in resource_spans:
        resource = read_attributes(group.get("resource", {}))
        for scope_spans in group.get("scopeSpans", []):
            scope = scope_spans.get("scope", {}).get("name", "")
            for span in scope_spans.get("spans", []):
                yield read_span(span, scope, resource, hex_id)


def read_span(span: Json, scope: str, resource: Json, hex_id: Callable[[str], str]) -> StoredSpan:
    """Return one span of OTLP JSON as plain data."""
    status = span.get("status", {})
    attributes = read_attributes(span)
    warnings = attributes.pop(JAEGER_WARNINGS, [])
    return StoredSpan(
        name=span.get("name", ""),
        trace_id=hex_id(span["traceId"]),
        span_id=hex_id(span["spanId"]),
        parent_id=hex_id(span.get("parentSpanId", "")),
        start_ns=int(span.get("startTimeUnixNano", 0)),
        end_ns=int(span.get("endTimeUnixNano", 0)),
        kind=read_enum(span.get("kind", 0), KINDS),
        status=read_enum(status.get("code", 0), STATUS_CODES),
        status_message=status.get("message", ""),
        attributes=attributes,
        events=tuple(read_event(event) for event in span.get("events", [])),
        links=tuple(read_link(link, hex_id) for link in span.get("links", [])),
        scope=scope,
        resource=resource,
        warnings=tuple(warnings),
    )


KINDS = tuple(
    f"SPAN_KIND_{kind}" for kind in ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
)
STATUS_CODES = tuple(f"STATUS_CODE_{code}" for code in ("UNSET", "OK", "ERROR"))


def read_enum(value: int | str, names: tuple[str, ...]) -> int:
    """Return the number of an enum value that is a number in Jaeger and a name in Tempo."""
    return names.index(value) if isinstance(value, str) else value


def read_event(event: Json) -> StoredEvent:
    """Return one event of OTLP JSON."""
    return StoredEvent(event.get("name", ""), int(event.get("timeUnixNano", 0)), read_attributes(event))


def read_link(link: Json, hex_id: Callable[[str], str]) -> StoredLink:
    """Return one link of OTLP JSON."""
    return StoredLink(hex_id(link["traceId"]), hex_id(link["spanId"]), read_attributes(link))


def read_attributes(holder: Json) -> Json:
    """Return the attributes of a span, event, link or resource as Python values."""
    return {pair["key"]: read_value(pair.get("value", {})) for pair in holder.get("attributes", [])}


def read_value(value: Json) -> Any:
    """Return one attribute value as a Python value."""
    kind, content = next(iter(value.items()), ("stringValue", cast("Any", "")))
    if kind == "intValue":
        return int(content)
    if kind == "doubleValue":
        return float(content)
    if kind == "arrayValue":
        return [read_value(item) for item in content.get("values", [])]
    return content
