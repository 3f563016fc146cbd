"""Settings from the environment: one table, read by name.

A bad value never raises: one line names the variable, the value and what is used instead.
"""

import contextlib
import logging
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_logger = logging.getLogger("otel_trace")
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"", "0", "false", "no", "off"}
_MAX_KEEP = 1e15  # days, or bytes of any unit
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


@dataclass(frozen=True)
class Keep:
    """How long and how much of past runs is kept."""

    days: float = 7.0
    num_bytes: int = 5 * 2**30

    def __str__(self) -> str:
        factor, unit = next(
            (factor, unit) for unit, factor in reversed(_UNITS.items()) if self.num_bytes % factor == 0
        )
        return f"{self.days:.15g}d,{self.num_bytes // factor}{unit.upper()}B"


@dataclass(frozen=True)
class Variable:
    """One environment variable: how it is read and what it means."""

    name: str
    parse: Callable[[str], Any]
    default: Any
    meaning: str


def parse_flag(text: str) -> bool:
    """Read a yes or no."""
    word = text.strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError("expected 1 or 0, true or false")


def parse_keep(text: str) -> Keep:
    """Read `7d,5GB`: either part may be left out."""
    days, num_bytes = Keep().days, Keep().num_bytes
    for part in text.replace(" ", "").lower().split(","):
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(d|[kmgt]?i?b?)", part)
        if not found:
            raise ValueError("expected days and bytes as in 7d,5GB")
        number, unit = float(found[1]), found[2]
        if number > _MAX_KEEP:
            raise ValueError("expected less than that")
        if unit == "d":
            days = number
        else:
            num_bytes = int(number * _UNITS[unit.rstrip("b").rstrip("i")])
    return Keep(days, num_bytes)


def parse_choice(*choices: str) -> Callable[[str], str]:
    """Make a reader of one of a few words."""

    def parse(text: str) -> str:
        word = text.strip().lower()
        if word in choices:
            return word
        raise ValueError(f"expected {', '.join(choices[:-1])} or {choices[-1]}")

    return parse


def parse_text(text: str) -> str:
    """Read a text, without the space around it."""
    return text.strip()


TABLE = (
    Variable("OTELTRACE_DIR", parse_text, "", "the folder of all journals"),
    Variable("OTELTRACE_GROUP", parse_text, "", "a group that may read the journals (a node service)"),
    Variable(
        "OTELTRACE_KEEP", parse_keep, Keep(), "how long and how much of past runs is kept, as in 7d,5GB"
    ),
    Variable("OTELTRACE_RUN_ID", parse_text, "", "the id of this run, the same for all its processes"),
    Variable(
        "OTELTRACE_SHIPPER",
        parse_choice("auto", "off", "service"),
        "auto",
        "auto: one is started where an exporter is configured; off; service: a node service ships",
    ),
    Variable(
        "OTELTRACE_SPILL_DIR",
        parse_text,
        "",
        "where journals go from a job's scratch folder when the job ends",
    ),
    Variable("OTELTRACE_STRICT", parse_flag, False, "raise our own failures instead of going on"),
    Variable(
        "OTELTRACE_VALUES",
        parse_choice("all", "numbers", "none"),
        "all",
        "which values are captured: all, numbers or none",
    ),
    Variable("OTEL_SDK_DISABLED", parse_flag, False, "nothing is recorded"),
    Variable("OTEL_SERVICE_NAME", parse_text, "", "service.name; else the script's name"),
)
_BY_NAME = {variable.name: variable for variable in TABLE}
_told: set[tuple[str, str]] = set()


def read(name: str, environ: Mapping[str, str] = os.environ) -> Any:
    """Give the value of a variable of the table: what the environment says, else the default."""
    variable = _BY_NAME[name]
    text = environ.get(name)
    if text is None or not text.strip():
        return variable.default
    try:
        return variable.parse(text)
    except (ValueError, OverflowError) as error:
        _tell_bad_value(variable, text, error)
        return variable.default


def _tell_bad_value(variable: Variable, text: str, error: Exception) -> None:
    if (variable.name, text) in _told:
        return
    _told.add((variable.name, text))
    with contextlib.suppress(Exception):  # a handler of the user's
        _logger.warning("otel_trace: %s=%r: %s; using %s", variable.name, text[:100], error, variable.default)
