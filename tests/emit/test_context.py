"""A fast span is the current span wherever a span of the SDK would be."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import baggage, context as context_api, propagate, trace as trace_api

from .both import SITE, Journalled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journalled]:
    """Give a provider with a journal."""
    journalled = Journalled(tmp_path / "journal")
    yield journalled
    journalled.writer.close()


def find_current() -> trace_api.Span:
    """Give the current span."""
    return trace_api.get_current_span()


def run_in_thread(do: Callable[[], Any]) -> Any:
    """Run in another thread, which has a context of its own."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(do()))
    thread.start()
    thread.join()
    return results[0]


def test_span_is_current_until_it_ends(journal: Journalled) -> None:
    """The span is current in the call, and what was current before is so after it."""
    before = find_current()
    call: Any = journal.runtime.open(SITE, ())
    current: Any = find_current()
    assert call is current
    call.finish(None)
    assert before is find_current()


def test_new_thread_has_no_span(journal: Journalled) -> None:
    """A new thread does not inherit the current span, as with the SDK."""
    call: Any = journal.runtime.open(SITE, ())
    assert trace_api.INVALID_SPAN is run_in_thread(find_current)
    call.finish(None)


def test_context_copied_to_a_thread_has_the_span(journal: Journalled) -> None:
    """A copied context carries the span to a thread."""
    call: Any = journal.runtime.open(SITE, ())
    copied = contextvars.copy_context()
    assert call is run_in_thread(lambda: copied.run(find_current))
    call.finish(None)


def test_attached_context_has_the_span(journal: Journalled) -> None:
    """A context of OTel taken in the call and attached elsewhere carries the span."""
    call: Any = journal.runtime.open(SITE, ())
    taken = context_api.get_current()

    def attach() -> trace_api.Span:
        context_api.attach(taken)
        return find_current()

    assert call is run_in_thread(attach)
    call.finish(None)


def test_tasks_have_their_own_spans(journal: Journalled) -> None:
    """Concurrent tasks each see their own span, and their common parent."""

    async def work(event: asyncio.Event) -> tuple[bool, str | None]:
        call: Any = journal.runtime.open(SITE, ())
        event.set()
        await asyncio.sleep(0.01)
        is_mine = find_current() is call
        call.finish(None)
        return is_mine, call.parent and call.parent.span_id

    async def run() -> list[Any]:
        outer: Any = journal.runtime.open(SITE, ())
        events = [asyncio.Event() for _ in range(3)]
        results = await asyncio.gather(*(work(event) for event in events))
        outer.finish(None)
        return [outer.get_span_context().span_id, *results]

    outer_id, *results = asyncio.run(run())
    assert [(True, outer_id)] * 3 == results


def test_baggage_goes_through(journal: Journalled) -> None:
    """Baggage set outside is there inside, and what is set inside is gone after."""
    token = context_api.attach(baggage.set_baggage("user", "a"))
    call: Any = journal.runtime.open(SITE, ())
    assert "a" == baggage.get_baggage("user")
    inner = context_api.attach(baggage.set_baggage("inner", "b"))
    context_api.detach(inner)
    call.finish(None)
    assert {"user": "a"} == dict(baggage.get_all())
    context_api.detach(token)


def test_propagator_injects_the_span(journal: Journalled) -> None:
    """The traceparent that leaves the process names the fast span."""
    call: Any = journal.runtime.open(SITE, ())
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    context = call.get_span_context()
    call.finish(None)
    expected = f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
    assert expected == carrier["traceparent"]


def test_extracted_parent_is_the_parent(journal: Journalled) -> None:
    """A span below a remote parent joins its trace, with its trace state."""
    carrier = {"traceparent": f"00-{'1' * 32}-{'2' * 16}-01", "tracestate": "vendor=x"}
    token = context_api.attach(propagate.extract(carrier))
    call: Any = journal.runtime.open(SITE, ())
    call.finish(None)
    context_api.detach(token)
    (data,) = journal.read()
    assert ("1" * 32, "2" * 16, "vendor=x") == (data.trace_id, data.parent_id, data.trace_state)
    assert data.is_parent_remote
    assert "vendor=x" == call.get_span_context().trace_state.to_header()


def test_ordinary_spans_and_fast_ones_nest(journal: Journalled) -> None:
    """A library's span below ours, and ours below it, make one tree."""
    tracer = journal.provider.get_tracer("library")
    outer: Any = journal.runtime.open(SITE, ())
    with tracer.start_as_current_span("library"):
        inner: Any = journal.runtime.open(SITE, ())
        inner.finish(None)
    outer.finish(None)
    spans = {span.span_id: span for span in journal.read()}
    chain = [f"{inner.get_span_context().span_id:016x}"]
    while parent := spans[chain[-1]].parent_id:
        chain.append(parent)
    assert ["work", "library", "work"] == [spans[key].name for key in chain]
    assert 1 == len({span.trace_id for span in spans.values()})


def test_finishing_elsewhere_leaves_that_context_alone(journal: Journalled) -> None:
    """A span that is finished in another context does not change what is current there."""
    call: Any = contextvars.copy_context().run(lambda: journal.runtime.open(SITE, ()))

    def finish_there() -> trace_api.Span:
        call.finish(None)
        return find_current()

    assert trace_api.INVALID_SPAN is run_in_thread(finish_there)
    assert 1 == len(journal.read())
