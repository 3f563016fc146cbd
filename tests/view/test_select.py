import re

import pytest

from otel_trace.view.errors import NothingSelected
from otel_trace.view.model import Run
from otel_trace.view.select import Selection, select_traces
from tests.view.factories import TRACE_ID, make_process, make_run, make_span, make_steps


def select_names(run: Run, wanted: Selection) -> list[list[str]]:
    """Return the span names of each selected trace."""
    return [[span.span_id for span in trace.spans] for trace in select_traces(run, wanted)]


def check_nothing(message: str, run: Run, wanted: Selection) -> None:
    """Check that a selection is refused with exactly that message."""
    with pytest.raises(NothingSelected, match=f"^{re.escape(message)}$"):
        select_traces(run, wanted)


def test_nothing_wanted_is_everything() -> None:
    """Without a wish all traces stay."""
    run = make_run(*make_steps(3))
    assert run.traces == select_traces(run, Selection())


def test_a_trace_is_found_by_its_beginning() -> None:
    """The beginning of an id is enough, in either case; an unknown one is shown with the last that exist."""
    run = make_run(make_span("a"), make_span("b", trace_id="f" * 32))
    assert [["b"]] == select_names(run, Selection(trace_id="FFF"))
    known = f"{TRACE_ID}, {'f' * 32}"
    check_nothing(f"no trace '00' in this run; its last traces: {known}", run, Selection(trace_id="00"))


def test_a_step_is_found_in_every_loop() -> None:
    """A step's number may exist in several loops; all of them are shown."""
    run = make_run(*make_steps(3), make_span("e", attributes={"training.step": 1}, trace_id="e" * 32))
    assert [["e"], ["s1", "s1-data", "s1-forward"]] == select_names(run, Selection(step=1))


def test_a_step_inside_a_longer_trace_is_cut_out() -> None:
    """A step that is part of a foreign trace is shown with all below it, also what does not know its step."""
    run = make_run(
        make_span("main"),
        make_span("one", "main", at=1, attributes={"training.step": 1}),
        make_span("foreign", "one", at=2),
        make_span("two", "main", at=3, attributes={"training.step": 2}),
    )
    assert [["one", "foreign"]] == select_names(run, Selection(step=1))


def test_a_rank_is_cut_out() -> None:
    """Of each trace the spans of one rank stay and stand on their own."""
    rank0, rank1 = make_process(0), make_process(1)
    run = make_run(
        make_span("step", process=rank0),
        make_span("r0", "step", process=rank0),
        make_span("r1", "step", at=1, process=rank1),
        make_span("own", process=rank0, trace_id="f" * 32),
    )
    assert [["r1"]] == select_names(run, Selection(rank=1))
    check_nothing("no rank 7 in this run; there are 0, 1", run, Selection(rank=7))


def test_an_unknown_step_says_which_there_are() -> None:
    """A step that is not there is answered with the range that is."""
    check_nothing("no step 5 in this run; it has 0 to 2", make_run(*make_steps(3)), Selection(step=5))
    check_nothing("no step 5 in this run; nothing in it belongs to a step", make_run(), Selection(step=5))


def test_a_run_without_ranks_says_so() -> None:
    """A rank of a run that was not distributed is refused with the reason."""
    run = make_run(make_span("a"))
    check_nothing("no rank 0 in this run; its processes have no ranks", run, Selection(rank=0))
