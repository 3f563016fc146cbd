"""What a benchmark found: pairs of measurements, the figure each pair gives, and the bar it is held to."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Literal

Measure = Literal["theirs / ours", "ours - theirs", "ours", "ours / theirs"]


@dataclass(frozen=True)
class Bar:
    """What a figure is held to: `theirs / ours` has to reach the limit, the others must not exceed it."""

    measure: Measure
    limit: float | None

    def compare(self, ours: float, theirs: float) -> float:
        """Return the figure that one pair of measurements gives."""
        if self.measure == "theirs / ours":
            return theirs / ours
        if self.measure == "ours / theirs":
            return ours / theirs
        return ours - theirs if self.measure == "ours - theirs" else ours

    def is_met(self, figure: float) -> bool:
        """Return whether a figure is good enough."""
        if self.limit is None:
            return True
        return figure >= self.limit if self.measure == "theirs / ours" else figure <= self.limit

    def __str__(self) -> str:
        """Return the bar as the table shows it."""
        if self.limit is None:
            return "-"
        return f"{'>=' if self.measure == 'theirs / ours' else '<='} {self.limit:g}"


@dataclass(frozen=True)
class Row:
    """One benchmark's result; `is_valid` is False when a side did not do what it was measured for."""

    name: str
    unit: str
    ours: Sequence[float]
    theirs: Sequence[float]
    bar: Bar
    note: str = ""
    is_valid: bool = True

    @property
    def figures(self) -> list[float]:
        """Return what is compared with the bar, pair by pair."""
        return [self.bar.compare(ours, theirs) for ours, theirs in zip(self.ours, self.theirs, strict=True)]

    @property
    def is_ok(self) -> bool:
        """Return whether the bar is met by a valid measurement."""
        return self.is_valid and self.bar.is_met(median(self.figures))

    def to_json(self) -> str:
        """Return the row as one line of JSON."""
        ours, theirs = median(self.ours), median(self.theirs)
        row = {
            "name": self.name,
            "unit": self.unit,
            "ours": round(ours, 4),
            "theirs": round(theirs, 4),
            "ratio": round(theirs / ours, 3) if ours else None,
            "bar": self.bar.limit,
            "ok": self.is_ok,
            "measure": self.bar.measure,
            "figure": round(median(self.figures), 4),
            "spread": find_spread(self.figures),
            "ours_spread": find_spread(self.ours),
            "theirs_spread": find_spread(self.theirs),
            "rounds": len(self.ours),
            "note": self.note,
        }
        return json.dumps(row)


def find_spread(values: Sequence[float]) -> list[float]:
    """Return the 25th and the 75th percentile."""
    if len(values) == 1:
        return [round(values[0], 4)] * 2
    low, _, high = quantiles(values, n=4, method="inclusive")
    return [round(low, 4), round(high, 4)]
