"""`step`: one optimizer update, the same trace on every rank, with no message between them."""

from types import TracebackType
from typing import Any, Self

from otel_trace import names
from otel_trace._guard import report_failure
from otel_trace.capture.wrap import fail, finish, make_text
from otel_trace.cluster.run import Run, current_run, step_ids
from otel_trace.emit.current import get_runtime
from otel_trace.emit.shared import SharedFacts, SpanPlan
from otel_trace.emit.site import Site

_INT64 = 2**63
_SITE = Site("step", "otel_trace")
_rank_sites: dict[int, Site] = {}


class _Numbering:
    """How often the numbers of each loop went back: alike on every rank, and the ids with it."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, int]] = {}

    def count(self, loop: str, number: int) -> int:
        """Give how often the loop's numbering had begun anew when this step is opened."""
        last, opened = self._last.get(loop, (number - 1, 0))
        opened += number <= last
        self._last[loop] = (number, opened)
        return opened


_numbering = _Numbering()


class step:  # noqa: N801 (used as a verb)
    """One step of a loop: a trace of its own, in which every rank has its part.

    >>> import otel_trace as ot
    >>> with ot.step(120):
    ...     pass
    """

    def __init__(self, number: int, /, *, name: str = "train") -> None:
        self._number = number
        self._loop = make_text(name)
        self._calls: list[Any] = []

    def __enter__(self) -> Self:
        try:
            self._open(current_run())
        except Exception as error:
            report_failure(f"a step of the loop {self._loop}", error)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._calls:
            call = self._calls.pop()
            if error is None:
                finish(call, None)
            else:
                fail(call, error)

    def _open(self, run: Run) -> None:
        number = int(self._number)
        ids = step_ids(run, self._loop, number, _numbering.count(self._loop, number))
        facts = SharedFacts(
            {names.STEP: number, names.LOOP: self._loop} if abs(number) < _INT64 else {names.LOOP: self._loop}
        )
        runtime = get_runtime()
        if run.place.rank == 0:
            self._add(runtime.open_planned(_SITE, SpanPlan(ids.trace_id, ids.root_id, None), facts))
        if run.place.world_size > 1:
            plan = SpanPlan(ids.trace_id, ids.rank_id, ids.root_id)
            self._add(runtime.open_planned(_find_rank_site(run.place.rank), plan, facts))

    def _add(self, call: Any) -> None:
        if call is not None:
            self._calls.append(call)


def _find_rank_site(rank: int) -> Site:
    if rank not in _rank_sites:
        _rank_sites[rank] = Site(f"rank {rank}", "otel_trace")
    return _rank_sites[rank]
