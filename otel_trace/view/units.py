"""Write durations, sizes, moments and counts the way a person says them."""

import datetime as dt

_DURATIONS = ((1, "ns"), (1_000, "us"), (1_000_000, "ms"), (1_000_000_000, "s"))
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")
_SECOND = 1_000_000_000
_MINUTE = 60
_HOUR = 3_600
_DAY = 86_400
_MANY_DAYS = 1_000


def format_duration(ns: int) -> str:
    """Return `ns` nanoseconds with three digits and a unit: `870 ns`, `12.3 ms`, `4m 12s`."""
    if ns < 0:
        return f"-{format_duration(-ns)}"
    if ns < 1_000:
        return f"{ns} ns"
    if round(ns / _SECOND, 1) >= _MINUTE:
        return _format_long(round(ns / _SECOND))
    texts = (f"{_three_digits(ns / size)} {unit}" for size, unit in _DURATIONS[1:] if ns / size < 999.5)
    return next(texts)


def _three_digits(value: float) -> str:
    if value < 9.995:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def _format_long(seconds: int) -> str:
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}m {seconds % _MINUTE:02d}s"
    if seconds < _DAY:
        return f"{seconds // _HOUR}h {seconds % _HOUR // _MINUTE:02d}m"
    days = seconds // _DAY
    return f"{days}d {seconds % _DAY // _HOUR:02d}h" if days < _MANY_DAYS else f"{days}d"


def format_size(num_bytes: int) -> str:
    """Return a number of bytes in binary units: `512 B`, `3.2 MiB`."""
    size = float(num_bytes)
    for unit in _SIZES:
        if size < 1024 or unit == _SIZES[-1]:
            break
        size /= 1024
    return f"{num_bytes} B" if unit == "B" else f"{size:.1f} {unit}"


def format_moment(ns: int, *, zone: dt.tzinfo | None = None) -> str:
    """Return the date and second of `ns` since 1970 in `zone`, by default the machine's own."""
    try:
        moment = dt.datetime.fromtimestamp(ns // _SECOND, tz=dt.UTC).astimezone(zone)
    except (OverflowError, OSError, ValueError):
        return f"{ns} ns"
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Return `1 span`, `4,321 spans`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
