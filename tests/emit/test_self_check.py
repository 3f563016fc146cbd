"""The check at start: a fast span that does not behave as the SDK's is not used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry import trace as trace_api
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from otel_trace.emit.fast_span import FastSpan
from otel_trace.emit.runtime import JournalRuntime
from otel_trace.emit.self_check import is_fast_span_sound

from .both import SITE, Journalled

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_fast_span_is_sound_on_this_sdk() -> None:
    """On every SDK of the range a fast span passes."""
    assert is_fast_span_sound(RandomIdGenerator())


def test_fast_span_that_misbehaves_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference in what the spans show, or an exception, is found."""
    with monkeypatch.context() as patch:
        patch.setattr(FastSpan, "set_attribute", lambda *_: None)
        assert not is_fast_span_sound(RandomIdGenerator())
    with monkeypatch.context() as patch:
        patch.setattr(FastSpan, "_touch", lambda _: 1 / 0)
        assert not is_fast_span_sound(RandomIdGenerator())
    with monkeypatch.context() as patch:
        patch.setattr(FastSpan, "_write_event", lambda *_: None)
        assert not is_fast_span_sound(RandomIdGenerator())


def test_ordinary_spans_are_made_instead(tmp_path: Path) -> None:
    """Where it does not pass, the same call makes an ordinary span, which the journal has."""
    journal = Journalled(tmp_path / "journal")
    runtime = JournalRuntime(journal.provider, None, journal.writer, is_sound=False)
    call: Any = runtime.open(SITE, (5,))
    assert "_Span" == type(trace_api.get_current_span()).__name__
    call.finish(None)
    (data,) = journal.read()
    assert {"code.line.number": 7, "param.x": 5} == data.attributes
