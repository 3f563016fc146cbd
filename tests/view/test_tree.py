from rich.cells import cell_len

from otel_trace.journal.spans import SpanData
from otel_trace.view.look import ASCII_GUIDES, Look
from tests.view.factories import (
    START_NS,
    draw,
    make_event,
    make_exception,
    make_look,
    make_process,
    make_span,
)

CODE = {"code.file.path": "/job/train.py", "code.line.number": 40}
RANKS = make_look(is_distributed=True)


def check_tree(expected: str, *spans: SpanData, look: Look | None = None) -> None:
    """Check that a trace is drawn exactly like `expected`, whose lines begin after a `|`."""
    lines = [line.partition("|")[2] for line in expected.strip().splitlines()]
    assert lines == draw(*spans, look=look)


def test_a_tree_shows_time_name_and_values() -> None:
    """Each span has a line: how long it took, its name, its parameters and what it returned."""
    tensor = {"param.x.summary": "float32[8, 16] cpu", "param.x.shape": [8, 16], "param.lr": 0.1}
    check_tree(
        """
        |  41.2 ms  step  loss=0.312346
        |  1.20 ms  ├─ data
        |  12.0 ms  ├─ forward  x=float32[8, 16] cpu  lr=0.1  -> float32[8, 4] cpu
        |  3.00 ms  │  └─ layer
        |  20.0 ms  └─ backward
        """,
        make_span("a", ms=41.2, name="step", attributes={"training.step": 3, "watch.loss": 0.31234567}),
        make_span("b", "a", ms=1.2, name="data"),
        make_span(
            "c",
            "a",
            at=2,
            ms=12,
            name="forward",
            attributes={**tensor, "return.summary": "float32[8, 4] cpu"},
        ),
        make_span("d", "c", at=3, ms=3, name="layer"),
        make_span("e", "a", at=20, ms=20, name="backward"),
    )


def test_events_stand_among_the_children_by_time() -> None:
    """What happened between two calls is shown between them, with its time since the span began."""
    change = make_event(
        "variable.change", 13, variable__name="loss", variable__value="0.31", code__line__number=12
    )
    check_tree(
        """
        |  20.0 ms  train
        |  5.00 ms  ├─ forward
        | +13.0 ms  ├─ loss = 0.31  (train.py:12)
        |  1.00 ms  └─ backward
        """,
        make_span("a", ms=20, name="train", attributes=CODE, events=[change]),
        make_span("b", "a", at=1, ms=5, name="forward"),
        make_span("c", "a", at=15, ms=1, name="backward"),
    )


def test_an_error_is_told_where_it_began() -> None:
    """The innermost span tells the error and its line, the spans that it passed only its type."""
    stack = '  File "/job/model.py", line 31, in forward\n'
    failed = [make_exception("ValueError", "bad shape", 5, stack)]
    check_tree(
        """
        |  9.00 ms  step  ! ValueError
        |  8.00 ms  └─ forward  ! ValueError: bad shape  (model.py:31 in forward)
        """,
        make_span("a", ms=9, name="step", status="error", events=failed),
        make_span("b", "a", ms=8, name="forward", status="error", events=failed),
    )


def test_an_error_without_an_exception_shows_its_message() -> None:
    """A status that was set by hand is an error too."""
    check_tree(
        """
        |  1.00 ms  load  ! no such file  (train.py:40)
        """,
        make_span("a", name="load", status="error", message="no such file", attributes=CODE),
    )


def test_a_handled_exception_is_an_event() -> None:
    """An exception that did not end its span stands where it happened."""
    check_tree(
        """
        |  9.00 ms  load
        | +5.00 ms  └─ ! KeyError: 'x'
        """,
        make_span("a", ms=9, name="load", events=[make_exception("KeyError", "'x'", 5)]),
    )


def test_open_and_interrupted_spans_are_marked() -> None:
    """A span that never ended says whether it still runs, for how long, and where in the code it is."""
    dead, alive = make_process(0), make_process(1, is_alive=True)
    check_tree(
        """
        |  >3.20 s  rank 0  (interrupted)  (train.py:40)
        |  >4.00 s  rank 1  (open, 4.00 s so far)
        """,
        make_span("a", ms=None, name="rank 0", process=dead, attributes=CODE),
        make_span("b", at=1000, ms=None, name="rank 1", process=alive),
        look=make_look(is_distributed=True, now=5000),
    )


def test_the_rank_is_said_where_it_changes() -> None:
    """A rank is named once, where its spans begin, unless the span's name says it."""
    rank0, rank1, worker = make_process(0), make_process(1), make_process()
    check_tree(
        """
        |  9.00 ms  step  [rank 0]
        |  9.00 ms  ├─ rank 0
        |  1.00 ms  │  ├─ data
        |  1.00 ms  │  └─ fetch  [pid 99]
        |  9.00 ms  └─ forward  [rank 1]
        """,
        make_span("a", ms=9, name="step", process=rank0),
        make_span("b", "a", ms=9, name="rank 0", process=rank0),
        make_span("c", "b", name="data", process=rank0),
        make_span("d", "b", at=1, name="fetch", process=worker),
        make_span("e", "a", at=2, ms=9, name="forward", process=rank1),
        look=RANKS,
    )


def test_ranks_stand_in_their_order() -> None:
    """Ranks run side by side; the one that was a hair earlier does not come first."""
    spans = [
        make_span(f"rank {rank}", "a", at=9 - rank, process=make_process(rank)) for rank in (2, 1, 0, 11)
    ]
    assert ["rank 0", "rank 1", "rank 2", "rank 11"] == [
        line[14:] for line in draw(make_span("a", process=make_process(0)), *spans)[1:]
    ]


def test_a_tree_without_its_root_stands() -> None:
    """When rank 0 died, the other ranks' spans are drawn on their own."""
    rank1, rank2 = make_process(1), make_process(2)
    check_tree(
        """
        |  9.00 ms  rank 1
        |  1.00 ms  └─ data
        |  9.00 ms  rank 2
        """,
        make_span("b", "lost", ms=9, name="rank 1", process=rank1),
        make_span("c", "b", name="data", process=rank1),
        make_span("d", "lost", at=1, ms=9, name="rank 2", process=rank2),
        look=RANKS,
    )


def test_what_does_not_fit_is_counted_at_its_place() -> None:
    """Of many spans the outline and the failures are shown, the rest is a number."""
    check_tree(
        """
        |  50.0 ms  root
        |  1.00 ms  ├─ call
        |  1.00 ms  ├─ broken  ! error
        |           └─ ... 19 more
        """,
        make_span("root", ms=50),
        *(make_span(f"c{number}", "root", at=number, name="call") for number in range(20)),
        make_span("x", "root", at=30, name="broken", status="error"),
        look=make_look(limit=3),
    )


def test_what_is_hidden_says_that_it_failed() -> None:
    """A failure that does not fit is at least counted."""
    check_tree(
        """
        |  1.00 ms  a  ! error
        |  1.00 ms  b  ! error
        |           ... 3 more, 1 with errors or open
        """,
        *(make_span(name, at=at, status="error") for at, name in enumerate("abc")),
        make_span("d", at=5),
        make_span("e", at=6),
        look=make_look(limit=2),
    )


def test_many_events_are_cut_in_the_middle() -> None:
    """Of a variable that changed thirty times the first and the last changes are shown, or all on request."""
    span = make_span("a", ms=40, events=[make_event(f"e{number}", number) for number in range(30)])
    lines = draw(span)
    assert ["├─ e6", "├─ ... 21 more events", "├─ e28", "└─ e29"] == [line[11:] for line in lines[7:]]
    assert 31 == len(draw(span, look=make_look(limit=None)))


def test_long_lines_keep_the_guides() -> None:
    """What is wider than the screen goes on below, in the tree, without tearing a value that fits."""
    words = " ".join(["a long story"] * 6)
    check_tree(
        """
        |  9.00 ms  load  alpha=float32[8, 16] cpu
        |           │  beta=float32[8, 16] cpu
        |  1.00 ms  ├─ x  ! a long story a long story a
        |           │     long story a long story a long
        |           │     story a long story
        |  1.00 ms  └─ y
        """,
        make_span(
            "a",
            ms=9,
            name="load",
            attributes={
                "param.alpha.summary": "float32[8, 16] cpu",
                "param.beta.summary": "float32[8, 16] cpu",
            },
        ),
        make_span("x", "a", status="error", message=words),
        make_span("y", "a", at=1),
        look=make_look(width=48),
    )


def test_hostile_names_do_not_break_the_tree() -> None:
    """Markup, escapes, NUL and lone surrogates in names are text on one line."""
    check_tree(
        r"""
        |  1.00 ms  [red]x[/red]\x1b[2J\n\x00\ud800
        """,
        make_span("a", name="[red]x[/red]\x1b[2J\n\0\ud800"),
    )


def test_no_line_is_wider_than_the_screen() -> None:
    """Wide characters and endless words are counted by the room they take."""
    span = make_span("a", name="火" * 200, attributes={"param.x": "y" * 500, "param.z": "火" * 100})
    for width in (40, 80):
        assert all(cell_len(line) <= width for line in draw(span, look=make_look(width=width)))


def test_a_deep_trace_is_drawn() -> None:
    """A trace far deeper than Python's stack is drawn; below some depth a number says the depth."""
    spans = [
        make_span(f"{depth}", f"{depth - 1}" if depth else None, at=depth / 1e3) for depth in range(5_000)
    ]
    lines = draw(*spans, look=make_look(limit=None))
    assert 5_000 == len(lines)
    assert "                                └─ [4999] 4999" == lines[-1].replace("  1.00 ms", " " * 9)
    assert ["  1.00 ms  └─ 1", "           " + " " * 21 + "└─ [9] ... 4,991 more"] == [
        line for number, line in enumerate(draw(*spans, look=make_look(limit=9))) if number in {1, 9}
    ]


def test_ascii_guides() -> None:
    """A terminal without Unicode gets a tree of plain characters."""
    look = Look(START_NS, guides=ASCII_GUIDES)
    assert ["  1.00 ms  a", "  1.00 ms  +- b", "  1.00 ms  |  `- c", "  1.00 ms  `- d"] == draw(
        make_span("a"), make_span("b", "a"), make_span("c", "b"), make_span("d", "a", at=1), look=look
    )
