"""What a description says, as plain data."""

from __future__ import annotations

from typing import Any

from otel_trace.describe.facts import Facts
from otel_trace.describe.value import Ladder


def describe(value: Any, values: str = "all") -> Any:
    """Describe with a new ladder: a scalar as it is, anything else as its facts."""
    found = Ladder(values).describe(value)
    return dict(found.data) if isinstance(found, Facts) else found


def by_type_only(kind: type) -> dict[str, str]:
    """Give the facts of a value of which only the type is told."""
    return {".type": f"{kind.__module__}.{kind.__qualname__}"}
