import dataclasses

from otel_trace.journal.reader import Damage
from otel_trace.view.look import Look
from otel_trace.view.model import Run
from otel_trace.view.screen import draw_run
from tests.view.factories import make_look, make_process, make_run, make_span, make_steps


def draw(run: Run, look: Look | None = None) -> list[str]:
    """Return the lines of a whole run."""
    return [line.plain for line in draw_run(run, run.traces, look or make_look())]


def test_a_small_run_is_shown_whole() -> None:
    """Few traces are all drawn below a head that says what the run was."""
    process = make_process(service="train.py")
    run = make_run(
        make_span("load", ms=2, process=process, trace_id="a" * 32),
        make_span("save", at=5, ms=3, process=process, trace_id="b" * 32),
    )
    assert [
        "Run run-a of train.py",
        "2027-01-15 08:00:00, took 8.00 ms, 1 process on node1, 2 traces, 2 spans",
        "",
        "load  08:00:00  trace aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "  2.00 ms  load",
        "",
        "save  08:00:00  trace bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        "  3.00 ms  save",
    ] == draw(run)


def test_a_long_run_is_an_overview_and_its_last_step() -> None:
    """Of many steps the lines and one tree are shown, which is the last."""
    assert [
        "Run run-a",
        "2027-01-15 08:00:00, took 90.0 ms, 1 process on node1, 9 traces, 27 spans",
        "",
        "train: 9 steps, median 10.0 ms  (--step N shows one)",
        "step     took     data  forward",
        *(f"   {step}  10.0 ms  1.00 ms  5.00 ms" for step in range(9)),
        "",
        "train step 8  08:00:00  trace 00000000000000000000000000000009",
        "  10.0 ms  step",
        "  1.00 ms  ├─ data",
        "  5.00 ms  └─ forward",
    ] == draw(make_run(*make_steps(9)))


def test_the_tree_of_a_failed_run_is_the_step_that_failed() -> None:
    """Where a step failed, that one is drawn, and the head says how many did."""
    spans = make_steps(9)
    spans[4].status = "error"
    lines = draw(make_run(*spans))
    assert "1 span with an error" == lines[2]
    assert "train step 1  08:00:00  trace 00000000000000000000000000000002" in lines


def test_the_ranks_of_a_run_are_counted() -> None:
    """A distributed run says how many of its ranks have journals here, and which processes there are besides."""
    ranks = [make_process(0), make_process(1), make_process()]
    for process in ranks[:2]:
        process.resource["training.world_size"] = 4
    lines = draw(make_run(*(make_span(f"s{number}", process=one) for number, one in enumerate(ranks))))
    assert "2027-01-15 08:00:00, took 1.00 ms, 2 ranks of 4 in 3 processes on node1, 1" == lines[1]
    assert "trace, 3 spans" == lines[2]


def test_a_run_that_died_says_so() -> None:
    """Spans that a dead process left open are counted in the head."""
    assert "1 span interrupted: the process died before the end" == draw(make_run(make_span("a", ms=None)))[2]


def test_a_run_that_goes_on_says_for_how_long() -> None:
    """A live run is shown with the time since its start."""
    run = make_run(make_span("a", ms=None, process=make_process(is_alive=True)))
    assert (
        "2027-01-15 08:00:00, running for 5.00 s, 1 process on node1, 1 trace, 1 span"
        == draw(run, make_look(now=5_000))[1]
    )


def test_what_is_missing_is_said_at_the_end() -> None:
    """Damage and losses are told in one paragraph, with the reasons."""
    run = make_run(
        make_span("a"),
        damage=Damage(
            records=2,
            num_bytes=4_000,
            missing_definitions=1,
            orphans=1,
            segments_refused=["x.seg: format 9", "y.seg"],
        ),
        ledger={"created": 5, "journal": 1, "evicted": 4, "end_no_space": 1, "event_no_space": 0},
    )
    assert (
        "Not complete: 2 damaged records skipped (3.9 KiB); 1 value of unknown meaning; 1 record of spans whose start is "
        "lost; 2 files refused (x.seg: format 9); 4 spans lost (the oldest segment made room within the size bound); "
        "1 end lost (no segment could be opened or written: disk full, quota, read-only, refused)."
    ) == " ".join(draw(run)[6:])


def test_a_run_without_spans_is_shown() -> None:
    """A run that has written nothing yet, or whose journal is lost, has a head."""
    assert ["Run run-a", "0 processes on 0 hosts, 0 traces, 0 spans"] == draw(make_run())


def test_hostile_text_stays_text() -> None:
    """Loops, stages, hosts and services come from the user; none breaks a line or the screen."""
    process = make_process(service="x\x1b[2J\n")
    steps = make_steps(5, loop="[b]\n\ud800", process=process)
    for span in steps[1:3]:
        span.attributes["training.stage"] = "\x00\n" * 3
    text = "\n".join(draw(make_run(*steps)))
    assert not set(text) & {"\x1b", "\0", "\ud800"}
    assert r"[b]\n\ud800: 5 steps, median 10.0 ms  (" in text


def test_a_cut_tree_says_how_to_see_all() -> None:
    """Below a tree that does not show all stands what does."""
    run = make_run(make_span("a"), *(make_span(f"b{number}", "a") for number in range(2_000)))
    assert "(5 of 2,001 spans shown; --limit 0 shows all)" == draw(run, make_look(limit=5))[-1]


def test_many_loops_are_cut() -> None:
    """A run whose loops have hundreds of names is cut like one with hundreds of steps."""
    spans = [
        make_span("s", attributes={"training.step": 0, "training.loop": f"l{n}"}, trace_id=f"{n:032x}")
        for n in range(99)
    ]
    assert "... 93 more loops; --limit 0 shows all" == draw(make_run(*spans))[-1]
    assert 99 * 3 + 2 == len(draw(make_run(*spans), make_look(limit=None)))


def test_spans_of_no_run_are_told_as_such() -> None:
    """Spans of another program, read from a file or a backend, belong to no run."""
    run = dataclasses.replace(make_run(make_span("a")), run_id="", notes=["there are more traces"])
    lines = draw(run)
    assert ("Spans of no run", "Not complete: there are more traces.") == (lines[0], lines[-1])
