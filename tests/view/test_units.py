import datetime as dt

import pytest

from otel_trace.view.units import format_count, format_duration, format_moment, format_size


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("0 ns", 0),
        ("870 ns", 870),
        ("1.00 us", 1_000),
        ("12.3 us", 12_345),
        ("999 us", 999_499),
        ("1.00 ms", 999_999),
        ("10.0 ms", 9_999_999),
        ("100 ms", 99_999_999),
        ("3.21 s", 3_210_000_000),
        ("59.9 s", 59_940_000_000),
        ("1m 00s", 59_999_999_999),
        ("4m 12s", 252_000_000_000),
        ("2h 05m", 7_500_000_000_000),
        ("3d 04h", 273_600_000_000_000),
        ("20833d", 1_800_000_000 * 10**9),
        ("-1.00 ms", -1_000_000),
    ],
)
def test_duration_has_three_digits_and_a_unit(text: str, ns: int) -> None:
    """A duration is said with three digits in the unit that fits, also where rounding reaches the next."""
    assert text == format_duration(ns)


@pytest.mark.parametrize(
    ("text", "num_bytes"),
    [("0 B", 0), ("1023 B", 1023), ("1.0 KiB", 1024), ("8.0 MiB", 2**23), ("2048.0 TiB", 2**51)],
)
def test_size_is_binary(text: str, num_bytes: int) -> None:
    """A size is said in binary units."""
    assert text == format_size(num_bytes)


def test_moment_is_date_and_second() -> None:
    """A moment is said to the second in the zone that is asked for."""
    assert format_moment(1_800_000_000_999_999_999, zone=dt.UTC) == "2027-01-15 08:00:00"


def test_moment_beyond_the_calendar_is_a_number() -> None:
    """A moment that no calendar holds, as damage can produce it, is shown as it is."""
    assert format_moment(2**63 * 10**9) == f"{2**63 * 10**9} ns"


@pytest.mark.parametrize(
    ("text", "number", "plural"), [("1 span", 1, None), ("4,321 spans", 4321, None), ("2 x", 2, "x")]
)
def test_count_agrees_with_its_noun(text: str, number: int, plural: str | None) -> None:
    """A count has the plural where it needs it."""
    assert text == format_count(number, "span", plural)
