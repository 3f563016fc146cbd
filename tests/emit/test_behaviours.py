"""A fast span behaves as a span of the SDK: to the program, and in the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanLimits

from otel_trace.emit.fast_span import FastSpan

from . import behaviours
from .both import Journalled, make_ours, make_theirs, show_data, show_span

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Behaviour = Callable[[Any], None]

pytestmark = pytest.mark.filterwarnings("ignore")

LIMITS = {
    "usual": {},
    "none": {"max_span_attributes": 0, "max_events": 0, "max_links": 0},
    "small": {"max_span_attributes": 3, "max_events": 2, "max_links": 1, "max_event_attributes": 1},
    "short": {"max_attribute_length": 2},
}


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("behaviour", behaviours.ALL, ids=lambda do: do.__name__)
def test_program_sees_the_same(tmp_path: Path, behaviour: Behaviour, limits: dict[str, int]) -> None:
    """Whatever is done to it, a fast span shows what the SDK's span shows."""
    journal = Journalled(tmp_path / "ours", limits=SpanLimits(**limits))
    ours, theirs = make_ours(journal, behaviour), make_theirs(journal, behaviour)
    journal.writer.close()
    assert show_span(theirs) == show_span(ours)


@pytest.mark.parametrize("behaviour", behaviours.ALL, ids=lambda do: do.__name__)
def test_journal_has_the_same(tmp_path: Path, behaviour: Behaviour) -> None:
    """Whatever is done to it, a fast span is in the journal as the SDK's span is."""
    ours, theirs = Journalled(tmp_path / "ours"), Journalled(tmp_path / "theirs")
    make_ours(ours, behaviour)
    make_theirs(theirs, behaviour)
    (our_data,), (their_data,) = ours.read(), theirs.read()
    assert show_data(their_data) == show_data(our_data)


def test_fast_span_is_a_span_of_the_sdk(tmp_path: Path) -> None:
    """A fast span is what programs and libraries check for."""
    journal = Journalled(tmp_path / "journal")
    span = make_ours(journal, behaviours.do_nothing)
    journal.writer.close()
    assert type(span) is FastSpan
    assert isinstance(span, Span)
    assert isinstance(span, ReadableSpan)


def test_untouched_span_has_no_field_of_the_sdk(tmp_path: Path) -> None:
    """The SDK's fields appear when one is touched, and not before."""
    journal = Journalled(tmp_path / "journal")
    span = make_ours(journal, behaviours.do_nothing)
    journal.writer.close()
    assert "_lock" not in vars(span)
    assert {"code.line.number": 7, "param.x": 5} == dict(span.attributes or {})
    assert "_lock" in vars(span)


def test_first_and_last_events_are_kept(tmp_path: Path) -> None:
    """Of more events than a span holds, the journal has the first ones and the last, and counts the rest."""

    def add(span: Any) -> None:
        for number in range(1000):
            span.add_event(str(number))

    journal = Journalled(tmp_path / "journal")
    make_ours(journal, add)
    (data,) = journal.read()
    assert [*map(str, range(127)), "999"] == [event.name for event in data.events]
    assert (0, 872, 0) == data.dropped


def test_unknown_attribute_is_an_error(tmp_path: Path) -> None:
    """What the SDK's span has not, a fast span has not."""
    journal = Journalled(tmp_path / "journal")
    span: Any = make_ours(journal, behaviours.do_nothing)
    journal.writer.close()
    with pytest.raises(AttributeError, match="no attribute '_nonsense'"):
        _ = span._nonsense
