from otel_trace.view.model import Run, group_traces
from tests.view.factories import MS, START_NS, make_run, make_span, make_steps, make_trace


def test_children_are_in_the_order_they_started() -> None:
    """A trace gives the spans below a span by start, whatever order they came in."""
    trace = make_trace(make_span("c", "a", at=3), make_span("b", "a", at=2), make_span("a"))
    assert ["b", "c"] == [span.name for span in trace.children(trace.roots[0])]


def test_a_span_without_its_parent_is_a_root() -> None:
    """When rank 0 died with the root of a step, the ranks' own spans stand as roots."""
    trace = make_trace(
        make_span("rank 1", "lost"), make_span("rank 2", "lost", at=1), make_span("data", "rank 1", at=2)
    )
    assert ["rank 1", "rank 2"] == [span.name for span in trace.roots]
    assert "rank 1" == trace.name


def test_a_span_seen_twice_stands_once() -> None:
    """Of a span that came open and ended, in any order, the ended one stays."""
    is_open, ended = make_span("a", ms=None), make_span("a", ms=5)
    for spans in ([is_open, ended], [ended, is_open], [ended, ended]):
        assert [ended] == make_trace(*spans).spans


def test_the_same_span_id_in_two_traces_is_two_spans() -> None:
    """Span ids tell spans apart only within their trace."""
    assert 2 == len(make_run(make_span("a", trace_id="1" * 32), make_span("a", trace_id="2" * 32)).spans)


def test_parents_in_a_circle_are_cut_at_the_earliest() -> None:
    """Damaged parents lose no span: every one is reachable from a root."""
    trace = make_trace(
        make_span("a", "c", at=1),
        make_span("b", "a", at=2),
        make_span("c", "b", at=3),
        make_span("self", "self", at=4),
        make_span("below", "c", at=5),
    )
    assert ["a", "self"] == [span.name for span in trace.roots]
    assert ["below"] == [span.name for span in trace.children(trace.spans[2])]
    assert (None, trace.spans[0]) == (trace.parent(trace.spans[0]), trace.parent(trace.spans[1]))


def test_traces_are_in_the_order_they_started() -> None:
    """A run's traces stand by start."""
    traces = group_traces([make_span("b", at=2, trace_id="1" * 32), make_span("a", at=1, trace_id="2" * 32)])
    assert ["a", "b"] == [trace.name for trace in traces]


def test_a_trace_lasts_until_its_last_sign_of_life() -> None:
    """A trace with an interrupted span ends with the last record of the process."""
    trace = make_trace(make_span("a", at=1, ms=None))
    assert (START_NS + 1 * MS, START_NS + 3_200 * MS) == (trace.start_ns, trace.end_ns)


def test_a_trace_knows_its_step() -> None:
    """The step and the loop are those of the first root."""
    assert [(0, "eval"), (1, "eval")] == [
        (trace.step, trace.loop) for trace in make_run(*make_steps(2, loop="eval")).traces
    ]
    assert (None, "") == (make_trace(make_span("a")).step, make_trace(make_span("a")).loop)


def test_an_empty_run_has_nothing() -> None:
    """A run without spans is a run."""
    run = Run("run-a", [])
    assert ([], [], {}, False) == (run.spans, list(run.traces), dict(run.ledger), bool(run.damage))
