import pytest

from otel_trace.view.overview import Series, group_series, list_overview, say_series
from tests.view.factories import MS, START_NS, make_process, make_run, make_span, make_steps

NOW_NS = START_NS + 10_000 * MS


def make_series(number: int) -> Series:
    """Return a series of steps of 10 ms."""
    (series,) = group_series(make_run(*make_steps(number)).traces)
    return series


def test_traces_are_grouped_by_loop() -> None:
    """Steps stand by loop in the order the loops began, after what ran outside of steps."""
    evals = [span for span in make_steps(9, loop="eval") if span.start_ns > START_NS + 65 * MS]
    setup = make_span("load", at=5, trace_id="f" * 32)
    run = make_run(*make_steps(3), *evals, setup)
    assert [("", False, 1), ("train", True, 3), ("eval", True, 2)] == [
        (series.loop, series.is_steps, len(series.traces)) for series in group_series(run.traces)
    ]


def test_each_step_has_a_line_with_its_stages() -> None:
    """A short series shows every step: how long it took, and each stage."""
    assert [
        ["step", "took", "data", "forward", "", ""],
        ["0", "10.0 ms", "1.00 ms", "5.00 ms", "", ""],
        ["1", "10.0 ms", "1.00 ms", "5.00 ms", "", ""],
    ] == list_overview(make_series(2), NOW_NS)


def test_a_long_series_is_cut() -> None:
    """Of a thousand steps the first and the last are shown, and all on request."""
    rows = list_overview(make_series(1_000), NOW_NS)
    assert ["step", "0", "1", "2", "...", "995", "996", "997", "998", "999"] == [row[0] for row in rows]
    assert ["...", "992 more"] == rows[4]
    assert 1_001 == len(list_overview(make_series(1_000), NOW_NS, is_full=True))


def test_what_stands_out_is_never_cut() -> None:
    """The slowest step, failed steps and open ones are shown and named."""
    spans = make_steps(100)
    by_id = {span.span_id: span for span in spans}
    by_id["s40"].end_ns = by_id["s40"].start_ns + 30 * MS
    by_id["s50-forward"].status = "error"
    by_id["s60-forward"].end_ns = None
    (series,) = group_series(make_run(*spans).traces)
    marks = {row[0]: row[4] for row in list_overview(series, NOW_NS)[1:] if len(row) > 4 and row[4]}
    assert {"40": "slowest", "50": "error", "60": "interrupted"} == marks


def test_a_stage_takes_as_long_as_on_its_slowest_rank() -> None:
    """A stage's time is the sum of its spans on the rank that took longest, spans within it not counted again."""
    rank0, rank1 = make_process(0), make_process(1)
    stage = {"training.step": 0, "training.stage": "forward"}
    (series,) = group_series(
        make_run(
            make_span("step", ms=9, attributes={"training.step": 0}, process=rank0),
            make_span("a", "step", ms=2, attributes=stage, process=rank0),
            make_span("b", "step", at=3, ms=2, attributes=stage, process=rank0),
            make_span("c", "step", ms=3, attributes=stage, process=rank1),
            make_span("inner", "a", ms=1, attributes=stage, process=rank0),
        ).traces
    )
    assert ["0", "9.00 ms", "4.00 ms", "", ""] == list_overview(series, NOW_NS)[1]


def test_values_of_a_step_stand_on_its_line() -> None:
    """What was noted on a step is shown with it, from the lowest rank that noted something."""
    common = {"training.step": 0}
    rank0, rank1 = make_process(0), make_process(1)
    (series,) = group_series(
        make_run(
            make_span("step", attributes=common, process=rank0),
            make_span("r1", "step", attributes={**common, "watch.loss": 1.0}, process=rank1),
            make_span("r0", "step", at=1, attributes={**common, "watch.loss": 0.5}, process=rank0),
        ).traces
    )
    assert "loss=0.5" == list_overview(series, NOW_NS)[1][-1]


def test_traces_outside_of_steps_have_their_name() -> None:
    """Outside of steps a line has the beginning of the trace id, the name and what is known of the call."""
    run = make_run(
        make_span("a", name="load", attributes={"param.path": "x"}, trace_id="a" * 32),
        make_span("b", "a", trace_id="a" * 32),
    )
    assert ["aaaaaaaa", "1.00 ms", "", "load  2 spans  path='x'"] == list_overview(
        group_series(run.traces)[0], NOW_NS
    )[1]


@pytest.mark.parametrize(
    ("text", "series"),
    [
        ("train: 3 steps, median 10.0 ms", Series("train", True, make_series(3).traces)),
        ("Steps: 1 step, median 10.0 ms", Series("", True, make_series(1).traces)),
        ("Outside of steps: 2 traces", Series("", False, make_series(2).traces)),
        ("2 traces", Series("", False, make_series(2).traces, is_only=True)),
    ],
)
def test_a_series_has_a_heading(text: str, series: Series) -> None:
    """The heading says what it is, how many, and how long one takes."""
    assert text == say_series(series, NOW_NS)


def test_a_running_step_counts_up_to_now() -> None:
    """A step that still runs is shown with the time it has taken so far."""
    process = make_process(is_alive=True)
    (series,) = group_series(
        make_run(make_span("a", ms=None, attributes={"training.step": 7}, process=process)).traces
    )
    assert ["7", ">10.0 s", "open", ""] == list_overview(series, NOW_NS)[1]
