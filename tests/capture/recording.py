"""What a program recorded, as trees of plain data: in this process, or in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import context as context_api, trace as trace_api
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider, sampling

from otel_trace.emit import current
from otel_trace.emit.processor import JournalProcessor
from otel_trace.emit.runtime import JournalRuntime
from otel_trace.journal.place import measure_place
from otel_trace.journal.spans import SpanData, read_run
from otel_trace.journal.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

PROJECT = Path(__file__).parents[2]
LAUNCH = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node")


@dataclass(frozen=True)
class Tree:
    """A span with the spans below it; ids, times and the place in the code are left out."""

    name: str
    attributes: dict[str, Any] = field(default_factory=dict)
    children: list[Tree] = field(default_factory=list)
    status: str = "unset"
    events: list[str] = field(default_factory=list)


def grow_trees(spans: Sequence[SpanData]) -> list[Tree]:
    """Give the trees of spans, all of them ended, in the order in which they began."""
    assert [] == [span.name for span in spans if span.is_open]
    known = {span.span_id for span in spans}

    def grow(span: SpanData) -> Tree:
        attributes = {key: value for key, value in span.attributes.items() if not key.startswith("code.")}
        children = [grow(child) for child in spans if child.parent_id == span.span_id]
        assert all(child.trace_id == span.trace_id for child in spans if child.parent_id == span.span_id)
        status = f"{span.status} {span.status_message}".strip()
        return Tree(span.name, attributes, children, status, [event.name for event in span.events])

    return [grow(span) for span in spans if span.parent_id not in known]


class Recording:
    """A journal that the decorators of this process write to, outside of any span."""

    def __init__(self, folder: Path, sampler: sampling.Sampler = sampling.DEFAULT_ON) -> None:
        self.folder = folder
        folder.mkdir()
        self.writer = Writer(lambda: measure_place(folder), lambda _key, _number: {"format": 1})
        self.provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        self.provider.add_span_processor(JournalProcessor(self.writer))
        self._runtime = JournalRuntime(self.provider, trace_api._TRACER_PROVIDER, self.writer, is_sound=True)

    def __enter__(self) -> Self:
        self._before = current.CURRENT.runtime
        current.CURRENT.runtime = self._runtime
        self._token = context_api.attach(Context())
        return self

    def __exit__(self, *error: object) -> None:
        context_api.detach(self._token)
        current.CURRENT.runtime = self._before
        self.writer.close()

    def spans(self) -> list[SpanData]:
        """Give the spans so far."""
        self.writer.flush()
        return read_run(self.folder).spans

    def trees(self) -> list[Tree]:
        """Give the trees so far."""
        return grow_trees(self.spans())

    def tree(self) -> Tree:
        """Give the only tree there is."""
        (tree,) = self.trees()
        return tree


def run_program(program: str, *, ranks: int = 0, environ: dict[str, str] | None = None) -> str:
    """Run a program, on ranks by torchrun if asked; give what it printed, complain if it fails."""
    launch = (*LAUNCH, str(ranks)) if ranks else ()
    finished = subprocess.run(
        [sys.executable, *launch, program],
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PROJECT), **(environ or {})},
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def record_program(
    folder: Path, program: str, *, ranks: int = 0, environ: dict[str, str] | None = None
) -> list[SpanData]:
    """Run the text of a program with a journal in a folder; give its spans."""
    if ranks and find_spec("torch") is None:
        pytest.skip("there is no torchrun without torch")
    folder.mkdir(exist_ok=True)
    path = folder / "program.py"
    path.write_text(program)
    journal = folder / "journal"
    run_program(str(path), ranks=ranks, environ={"OTELTRACE_DIR": str(journal), **(environ or {})})
    return [span for run in sorted(journal.iterdir()) for span in read_run(run).spans]


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> BaseException | None:
    """Call a function and give the exception that came out."""
    try:
        function(*args, **kwargs)
    except BaseException as error:  # noqa: BLE001 (that is what is asked for)
        return error
    return None
