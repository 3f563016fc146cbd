"""What all calls of one function share: its name, scope, place in the code, and the names of its parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

from otel_trace import names
from otel_trace.describe.facts import Facts
from otel_trace.journal.values import add_value


class Site:
    """Written once a segment; each call refers to it. `params` are the attributes that the values of a call become."""

    __slots__ = ("attributes", "data", "name", "params", "scope", "stage")

    def __init__(
        self,
        name: str,
        scope: str,
        *,
        attributes: Mapping[str, Any] | None = None,
        params: Sequence[str] = (),
        version: str | None = None,
        schema_url: str | None = None,
        stage: str | None = None,
    ) -> None:
        self.name = name
        self.scope = scope
        self.attributes = dict(attributes or {})
        self.params = tuple(params)
        self.stage = stage
        self.data: Mapping[str, Any] = {
            "name": name,
            "scope": [scope, version or "", schema_url or ""],
            "attributes": self.attributes,
            "params": list(params),
        }

    def expand(self, values: Sequence[Any], shared: Facts | None) -> dict[str, Any]:
        """Give the attributes of a call with these described parameters."""
        attributes = dict(self.attributes)
        if shared is not None:
            attributes.update(shared.data)
        for name, value in zip(self.params, values, strict=False):
            add_value(attributes, name, value.data if isinstance(value, Facts) else value)
        return attributes


def expand_result(result: Any) -> dict[str, Any]:
    """Give the attributes of a described return value."""
    attributes: dict[str, Any] = {}
    add_value(attributes, names.RETURN, result.data if isinstance(result, Facts) else result)
    return attributes
