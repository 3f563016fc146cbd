"""What is known of a value: facts, each a suffix of the value's name with what is written under it."""

from collections.abc import Mapping
from typing import Any


class Facts:
    """Frozen facts that many values share, as all tensors of one shape, dtype and device do.

    Told apart by identity: whoever describes keeps one object for equal facts.
    """

    __slots__ = ("data",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"Facts({dict(self.data)!r})"
