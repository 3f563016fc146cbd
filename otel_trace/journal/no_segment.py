"""What stands in the place of a segment while none is open: nothing is defined, so every record takes the slow way."""

from typing import Any


class _NoSegment:
    """Takes nothing and has nothing to let go of."""

    def __init__(self) -> None:
        self.ids: dict[Any, list[int]] = {}

    def write(self, frame: bytes) -> int:  # noqa: ARG002 (as a segment does)
        """Refuse, as a full segment does."""
        raise ValueError("no segment is open")

    def write_tally(self, frame: bytes) -> None:
        """Nowhere to keep it yet."""

    def flush(self) -> None:
        """Nothing to wait for."""

    def abandon(self) -> None:
        """Nothing to let go of."""


NO_SEGMENT: Any = _NoSegment()
