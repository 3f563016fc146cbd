"""What a drawing depends on besides the run: the width, the guides, the clock, how much is shown."""

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Guides:
    """The characters that draw a tree."""

    fork: str = "├─ "
    last: str = "└─ "
    line: str = "│  "
    none: str = "   "


ASCII_GUIDES = Guides(fork="+- ", last="`- ", line="|  ")


@dataclass(frozen=True, slots=True)
class Look:
    """How to draw.

    `limit` is how many spans of a trace are shown, None for all; `zone` is whose clock is told, None for the machine's.
    """

    now_ns: int
    width: int = 80
    guides: Guides = Guides()
    limit: int | None = None
    is_distributed: bool = False
    zone: dt.tzinfo | None = None
