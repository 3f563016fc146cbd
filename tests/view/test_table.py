from rich.cells import cell_len

from otel_trace.view.table import lay_out_table

ROWS = [["step", "took", "data", "forward", "", "loss"], ["0", "10.0 ms", "1 ms", "", "", "loss=0.5"]]


def test_numbers_end_at_the_right() -> None:
    """Columns are as wide as they must be, an empty one is gone, and no line has blanks at its end."""
    expected = [
        "step     took  data  forward  loss",
        "   0  10.0 ms  1 ms           loss=0.5",
    ]
    assert expected == list(lay_out_table(ROWS, width=80, num_left=2))


def test_what_does_not_fit_loses_its_middle() -> None:
    """On a narrow screen the columns before the last ones go first, then the line is cut."""
    assert ["step     took  data  loss", "   0  10.0 ms  1 ms  loss=0.5"] == list(
        lay_out_table(ROWS, width=30, num_left=2)
    )
    assert ["a" * 17 + "..."] == list(lay_out_table([["a" * 30]], width=20))


def test_wide_characters_are_counted_by_their_room() -> None:
    """A table with wide characters stays straight and within the screen."""
    lines = list(lay_out_table([["火火", "x"], ["ab", "y"], ["z", "火" * 40]], width=21, num_left=2))
    assert ["火火  x", "ab    y"] == lines[:2]
    assert cell_len(lines[2]) <= 21


def test_no_rows_are_no_lines() -> None:
    """An empty table is nothing."""
    assert [] == list(lay_out_table([], width=80))
