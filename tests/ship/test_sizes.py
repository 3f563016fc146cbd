import pytest

from otel_trace.ship import sizes
from otel_trace.ship.sizes import MAX_TRACE_BYTES, TraceSizes


def test_trace_beyond_what_tempo_keeps_is_told() -> None:
    """The spans after the limit count, those of other traces do not."""
    seen = TraceSizes()
    assert not seen.add("a", MAX_TRACE_BYTES)
    assert not seen.add("b", 1)
    assert seen.add("a", 1)
    assert seen.add("a", 1)


def test_old_traces_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many traces come, memory does not grow with them."""
    monkeypatch.setattr(sizes, "_MAX_TRACES", 10)
    seen = TraceSizes()
    for number in range(100):
        seen.add(str(number), 1)
    assert 10 == len(seen._sizes)
