"""What the environment says of samplers and limits holds for our spans; a bad value costs one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .programs import REPOSITORY, run_program

if TYPE_CHECKING:
    from pathlib import Path

WORK = """
import otel_trace as ot
from opentelemetry import trace

@ot.traced
def work(x):
    for number in range(9):
        trace.get_current_span().set_attribute(str(number), number)

ot.configure()
work(1)
"""

PICKY = """
from opentelemetry.sdk.trace import sampling

class Picky(sampling.Sampler):
    def __init__(self, name):
        self.name = name
    def should_sample(self, parent_context, trace_id, name, *rest, **more):
        decision = sampling.Decision.RECORD_AND_SAMPLE if name == self.name else sampling.Decision.DROP
        return sampling.SamplingResult(decision, {"picked_by": "picky"})
    def get_description(self):
        return "Picky"

def make(argument):
    return Picky(argument)
"""


def test_sampler_of_a_package_is_asked(tmp_path: Path) -> None:
    """A sampler that another package publishes decides, and what it adds is on our spans."""
    package = tmp_path / "packages"
    (package / "picky-1.dist-info").mkdir(parents=True)
    (package / "picky-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: picky\nVersion: 1\n"
    )
    (package / "picky-1.dist-info" / "entry_points.txt").write_text(
        "[opentelemetry_traces_sampler]\npicky = picky:make\n"
    )
    (package / "picky.py").write_text(PICKY)
    outcome = run_program(
        WORK + "with ot.span('other'): pass",
        OTEL_TRACES_SAMPLER="picky",
        OTEL_TRACES_SAMPLER_ARG="work",
        PYTHONPATH=f"{package}:{REPOSITORY}",
    )
    assert [("work", "picky")] == [(span.name, span.attributes["picked_by"]) for span in outcome.spans]


def test_unknown_sampler_is_told() -> None:
    """A name that nobody knows costs one line that says what there is, and everything is sampled."""
    outcome = run_program(WORK, OTEL_TRACES_SAMPLER="nonsense")
    assert ["work"] == outcome.names
    assert 1 == outcome.stderr.count("\n")
    assert (
        "OTEL_TRACES_SAMPLER='nonsense': no package publishes such a sampler, and the SDK has always_off"
        in outcome.stderr
    )


def test_limits_hold() -> None:
    """The SDK's limits from the environment hold for our spans."""
    outcome = run_program(WORK, OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT="4")
    assert ["5", "6", "7", "8"] == list(outcome.spans[0].attributes)


def test_bad_limit_is_told() -> None:
    """A limit that is no number costs one line, and the default ones hold."""
    outcome = run_program(WORK, OTEL_SPAN_EVENT_COUNT_LIMIT="many")
    assert (
        "OTEL_SPAN_EVENT_COUNT_LIMIT='many': expected a whole number; using the SDK's default limits"
        in outcome.stderr
    )
    assert ["work"] == outcome.names
