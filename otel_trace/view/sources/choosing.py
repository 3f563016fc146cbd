"""Choose the run that a person means by its id, or by the beginning of it."""

from collections.abc import Sequence

from otel_trace.errors import RunNotFound
from otel_trace.view.plain import clean_text

_MAX_NAMED = 5


def choose_run(wanted: str, run_ids: Sequence[str], place: str) -> str:
    """Return the one id that `wanted` is or begins; raises RunNotFound naming what there is in `place`."""
    found = [wanted] if wanted in run_ids else [one for one in run_ids if wanted and one.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    name = repr(clean_text(wanted, 200))
    if found:
        raise RunNotFound(f"{name} begins {len(found)} runs: {_name_some(found)}; give more of the id")
    if run_ids:
        raise RunNotFound(f"no run {name} in {place}; runs there: {_name_some(run_ids)}")
    raise RunNotFound(f"no run {name}: there are no runs in {place}")


def _name_some(run_ids: Sequence[str]) -> str:
    text = ", ".join(map(clean_text, run_ids[:_MAX_NAMED]))
    more = len(run_ids) - _MAX_NAMED
    return f"{text} and {more} more" if more > 0 else text
