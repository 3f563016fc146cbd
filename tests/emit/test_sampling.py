"""What is sampled with fast spans is what is sampled with the SDK's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import context as context_api, trace as trace_api
from opentelemetry.sdk.trace import sampling
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from .both import SITE, Journalled

if TYPE_CHECKING:
    from pathlib import Path

RATIO = sampling.TraceIdRatioBased(0.5)


class Picky(sampling.Sampler):
    """A sampler of the user's: by name, and it adds an attribute."""

    def should_sample(self, parent_context: Any, trace_id: int, name: str, *rest: Any, **more: Any) -> Any:
        """Sample what is called work."""
        decision = sampling.Decision.RECORD_AND_SAMPLE if name == "work" else sampling.Decision.DROP
        return sampling.SamplingResult(decision, {"picked": True})

    def get_description(self) -> str:
        """Name the sampler."""
        return "Picky"


SAMPLERS = {
    "always_on": sampling.ALWAYS_ON,
    "always_off": sampling.ALWAYS_OFF,
    "traceidratio": RATIO,
    "parentbased_always_on": sampling.DEFAULT_ON,
    "parentbased_always_off": sampling.DEFAULT_OFF,
    "parentbased_traceidratio": sampling.ParentBased(RATIO),
    "parentbased_traceidratio_of_the_environment": sampling.ParentBasedTraceIdRatio(0.5),
    "parentbased_other": sampling.ParentBased(RATIO, local_parent_not_sampled=sampling.ALWAYS_ON),
    "custom": Picky(),
    "parentbased_custom": sampling.ParentBased(Picky()),
}
PARENTS = {
    "none": None,
    "local_sampled": (False, 1),
    "local_unsampled": (False, 0),
    "remote_sampled": (True, 1),
    "remote_unsampled": (True, 0),
}
TRACE_IDS = (0x10 << 120 | 1, 0x10 << 120 | (2**64 - 1))


@pytest.fixture(autouse=True)
def fixed_ids(monkeypatch: pytest.MonkeyPatch, trace_id: int) -> None:
    """Let every new trace have the id of the case, whoever makes it."""
    monkeypatch.setattr("otel_trace.emit.runtime.new_trace_id", lambda: trace_id)
    monkeypatch.setattr(
        "opentelemetry.sdk.trace.id_generator.RandomIdGenerator.generate_trace_id", lambda _self: trace_id
    )


def nest(
    journal: Journalled, parent: tuple[bool, int] | None, trace_id: int, *, is_ours: bool
) -> tuple[list[bool], list[Any]]:
    """Open a span and one within it; say which are sampled, and what the journal has."""
    token = None
    if parent is not None:
        context = SpanContext(trace_id, 7, is_remote=parent[0], trace_flags=TraceFlags(parent[1]))
        token = context_api.attach(trace_api.set_span_in_context(NonRecordingSpan(context)))
    flags: list[bool] = []

    def look() -> None:
        flags.append(trace_api.get_current_span().get_span_context().trace_flags.sampled)

    if is_ours:
        outer: Any = journal.runtime.open(SITE, (5,))
        look()
        inner: Any = journal.runtime.open(SITE, (5,))
        look()
        for call in (inner, outer):
            if call is not None:
                call.finish(None)
    else:
        tracer = journal.provider.get_tracer("tests")
        attributes = {"code.line.number": 7, "param.x": 5}
        with tracer.start_as_current_span("work", attributes=attributes):
            look()
            with tracer.start_as_current_span("work", attributes=attributes):
                look()
    if token is not None:
        context_api.detach(token)
    return flags, [
        (span.name, span.trace_id, span.attributes, span.parent_id is None) for span in journal.read()
    ]


@pytest.mark.parametrize("trace_id", TRACE_IDS, ids=["low", "high"])
@pytest.mark.parametrize("parent", PARENTS.values(), ids=PARENTS)
@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_same_spans_are_sampled(
    tmp_path: Path, sampler: sampling.Sampler, parent: tuple[bool, int] | None, trace_id: int
) -> None:
    """For every sampler and parent, the same spans are in the journal and the same flags go on."""
    ours = nest(Journalled(tmp_path / "ours", sampler), parent, trace_id, is_ours=True)
    theirs = nest(Journalled(tmp_path / "theirs", sampler), parent, trace_id, is_ours=False)
    assert theirs == ours


@pytest.mark.parametrize("trace_id", TRACE_IDS[:1])
def test_parent_of_another_provider_is_asked_for(tmp_path: Path, trace_id: int) -> None:
    """A fast span of another provider is a parent like any other: the sampler decides."""
    other, journal = Journalled(tmp_path / "other"), Journalled(tmp_path / "ours", sampling.ALWAYS_OFF)
    outer: Any = other.runtime.open(SITE, ())
    inner: Any = journal.runtime.open(SITE, ())
    inner.finish(None)
    outer.finish(None)
    assert (1, 0) == (len(other.read()), len(journal.read()))


@pytest.mark.parametrize("trace_id", TRACE_IDS[:1])
@pytest.mark.parametrize("name", sampling._KNOWN_SAMPLERS)
def test_samplers_of_the_environment_leave_spans_fast(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, trace_id: int
) -> None:
    """Whatever `OTEL_TRACES_SAMPLER` names of the SDK's own, fast spans are made."""
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", name)
    journal = Journalled(tmp_path / "journal", sampling._get_from_env_or_default())
    assert journal.runtime.is_fast
