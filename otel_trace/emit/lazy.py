"""The SDK's fields of a span, absent until one is touched.

Which fields there are is read off a span of the SDK's, so a new version brings its own. A class with
`__getattr__` would lose the interpreter's fast reads of every other attribute.
"""

from typing import Any

from opentelemetry import trace as trace_api
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Span
from opentelemetry.trace import SpanContext


class LazyContext:
    """Makes the span's context, and no more, when it is asked for."""

    def __get__(self, span: Any, owner: type) -> SpanContext:
        share = span._ot_trace
        context = SpanContext(share.number, span._ot_span_id, False, share.flags, share.state)
        span.__dict__["_context"] = context
        return context


class LazyField:
    """Stands where the SDK keeps a field, until it is touched."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, span: Any, owner: type) -> Any:
        span._touch()
        return span.__dict__[self._name]


class _Template(Span):
    """Shows which fields this version of the SDK gives a span."""


def place_lazy_fields(kind: type, besides: set[str]) -> None:
    """Put a descriptor in the place of each field that the SDK gives a span."""
    template = _Template("", trace_api.INVALID_SPAN_CONTEXT, resource=Resource.get_empty())
    for name in vars(template).keys() - besides:
        setattr(kind, name, LazyField(name))
