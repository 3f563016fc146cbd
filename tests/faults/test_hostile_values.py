"""Values, names and events that nobody expects, through the public API: no error in user code, no lost neighbour."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.faults.producing import read_journal, run_program

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = """
class Pretender:
    __class__ = property(lambda self: str)
    def __len__(self): raise RuntimeError("called")
    __str__ = __repr__ = __hash__ = __iter__ = __index__ = __float__ = __bool__ = __eq__ = __len__

class Loud(str):
    def __str__(self): raise RuntimeError("called")
    __len__ = __repr__ = __format__ = __str__

class Meta(type):
    def __getattribute__(cls, name): raise RuntimeError("called")

class Odd(metaclass=Meta): pass

def deep(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value

looped_list = []
looped_list.append(looped_list)
looped_dict = {}
looped_dict["me"] = looped_dict

VALUES = {
    "lone surrogate": "\\ud800",
    "surrogate pair, swapped": "a\\udc00\\ud800b",
    "NUL": "a\\0b",
    "100 MB": "x" * 100_000_000,
    "100 MB, not ASCII": "\\u00e9" * 50_000_000,
    "100 MB of bytes": b"x" * 100_000_000,
    "a long list": [0] * 10_000_000,
    "a list of long texts": ["x" * 1_000_000] * 100,
    "NaN": float("nan"),
    "Infinity": float("-inf"),
    "2**63": 2**63,
    "-2**63-1": -(2**63) - 1,
    "10**5000": 10**5000,
    "NaN in a list": [1.0, float("nan")],
    "2**64 in a list": [2**64, 1],
    "mixed list": [1, "a", None, 2.5, b"x"],
    "surrogate in a list": ["\\ud800", "b"],
    "deep": deep(100_000),
    "self-referential list": looped_list,
    "self-referential dict": looped_dict,
    "None as key": {None: 1, 3: {None: None}},
    "complex": 1j,
    "set": {1, 2},
    "pretender": Pretender(),
    "loud": Loud("quiet"),
    "odd": Odd,
    "instance of odd": object.__new__(Odd),
    "None": None,
    "empty": "",
    "function": lambda: 1,
}
errors = []

def raised_by_the_sdk(error):
    # Whether the library nearest to the error is the SDK, which would raise it without us as well.
    import traceback
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    libraries = [file for file in files if "/otel_trace/" in file or "/opentelemetry/" in file]
    return bool(libraries) and "/opentelemetry/" in libraries[-1]

def attempt(name, call):
    try:
        call()
    except BaseException as error:
        if not raised_by_the_sdk(error):
            errors.append(f"{name}: {error!r:.200}")
"""

# Each way hands a value over and emits a span named `neighbour` after it.
WAYS = {
    "argument": "work(value)",
    "argument in a dict": "work({'a': value, 'b': 1})",
    "return value": "work(0, then=lambda: value)",
    "keyword": "collect(value=value)",
    "attribute of a block": """
with ot.span("block", value=value): pass""",
    "attribute of a span": """
with ot.span("touched"):
    trace.get_current_span().set_attribute("value", value)""",
    "attribute of an SDK span": """tracer.start_span("sdk", attributes={"value": value, "other": 1}).end()""",
    "attributes of an SDK span": """
span = tracer.start_span("sdk")
span.set_attributes({"value": value, "other": 1})
span.end()""",
    "event": """
with tracer.start_as_current_span("sdk") as span:
    span.add_event("event", {"value": value, "other": 1})""",
    "event of a touched span": """
with ot.span("touched"):
    trace.get_current_span().add_event("event", {"value": value, "other": 1})""",
    "link": """
context = trace.SpanContext(1 << 125, 5, False)
tracer.start_span("sdk", links=[trace.Link(context, {"value": value, "other": 1})]).end()""",
    "exception": """
try:
    with ot.span("failing"):
        raise ValueError(value)
except ValueError:
    pass""",
    "exception of an SDK span": """
try:
    with tracer.start_as_current_span("sdk"):
        raise KeyError(value)
except KeyError:
    pass""",
}
EMIT = """
ot.configure()
tracer = trace.get_tracer("test")

@ot.traced
def collect(**values): return values

def hand_over(value):
    exec(WAY, {**globals(), "value": value})

for name, value in VALUES.items():
    attempt(name, lambda: hand_over(value))
    with tracer.start_as_current_span("neighbour", attributes={"after": name}): pass
print(json.dumps(errors))
"""


@pytest.mark.parametrize("way", WAYS)
def test_value_costs_nobody_anything(tmp_path: Path, way: str) -> None:
    """Through every way: the user's code sees no error but the SDK's own, and every span is there and ended."""
    program = HOSTILE + f"WAY = {WAYS[way]!r}\n" + EMIT
    outcome = run_program(tmp_path, program, seconds=110)
    assert (0, []) == (outcome.returncode, json.loads(outcome.stdout or "null")), outcome.stderr
    run = read_journal(tmp_path)
    num_values = program.split("VALUES = {")[1].split("\n}")[0].count('": ')
    assert num_values == sum(span.name == "neighbour" for span in run.spans)
    assert [] == [(span.name, span.attributes) for span in run.spans if span.is_open and span.name != "sdk"]
    assert {"created": len(run.spans), "journal": len(run.spans)} == run.ledger
    assert not run.damage
    assert [] == outcome.warnings


NAMES = ["\ud800", "a\0b", "", "x" * 10_000, "é" * 10_000, "𝄞" * 600, "a\nb", "\x1b[31m"]


def test_names_cost_nobody_anything(tmp_path: Path) -> None:
    """Any text names a span, an event or an attribute; what cannot be kept is cut or replaced."""
    program = f"""
ot.configure()
tracer = trace.get_tracer("\\ud800")
for name in {NAMES!r}:
    with ot.span(name): pass
    with tracer.start_as_current_span(name) as span:
        span.add_event(name, {{name or "a": 1}})
        span.set_attribute(name or "a", 1)
        span.update_name(name + name)
        span.set_status(trace.StatusCode.ERROR, name)
    ot.traced(name=name)(lambda: 1)() if name else None
"""
    outcome = run_program(tmp_path, program)
    assert (0, "") == (outcome.returncode, outcome.stderr)
    run = read_journal(tmp_path)
    assert 3 * len(NAMES) - 1 == len(run.spans)
    assert [] == [span.name for span in run.spans if span.is_open or len(span.name.encode()) > 2048]
    assert all(1 == len(span.events) for span in run.spans if span.status == "error")
    assert not run.damage


def test_many_attributes_and_events_cost_nobody_anything(tmp_path: Path) -> None:
    """More than anybody can hold is cut and counted; the span ends."""
    program = """
ot.configure()
tracer = trace.get_tracer("test")
with tracer.start_as_current_span("full") as span:
    for number in range(1000):
        span.set_attribute(f"a{number}", ["\\U0001d11e" * 5000] * 1000)
        span.add_event("e", {f"a{n}": "x" * 5000 for n in range(200)})
with ot.span("touched"):
    span = trace.get_current_span()
    for number in range(1000):
        span.set_attribute(f"a{number}", ["\\U0001d11e" * 500] * 100)
        span.add_event("e", {f"a{n}": "x" * 5000 for n in range(20)})
"""
    outcome = run_program(tmp_path, program, seconds=100)
    assert (0, []) == (outcome.returncode, outcome.warnings)
    run = read_journal(tmp_path)
    assert {"full", "touched"} == {span.name for span in run.spans if not span.is_open}
    assert all(128 >= len(span.attributes) > 1 for span in run.spans)
    assert not run.damage
