"""Attributes in parts: what many spans share is encoded once, what is a span's own each time."""

from typing import Any

from otel_trace.journal.join import Shared


class Parted(dict[str, Any]):
    """A span's own attributes, with the shared ones beside them."""

    __slots__ = ("shared",)

    def __init__(self, shared: list[Shared]) -> None:
        super().__init__()
        self.shared = shared

    def count(self) -> int:
        """Give the number of all attributes."""
        return len(self) + sum(map(len, self.shared))

    def has_clash(self) -> bool:
        """Say whether a name is in two parts."""
        return bool(self) and any(not self.keys().isdisjoint(part) for part in self.shared)

    def merge(self) -> dict[str, Any]:
        """Give all attributes in one dict; the span's own ones win."""
        merged: dict[str, Any] = {}
        for part in self.shared:
            merged.update(part)
        merged.update(self)
        return merged
