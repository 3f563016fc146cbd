"""When anything starts: which provider the decorators use, and when ours is made.

Only `configure()` sets the global provider. Without it the decorators use the global provider if the program
set one, else a private one of ours. A provider of somebody else's keeps its exporters; `configure()` adds our
journal to it.
"""

import atexit
import functools
import os
import sys
import threading
from typing import Any

from opentelemetry import trace as trace_api
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import (
    SpanProcessor,
    SynchronousMultiSpanProcessor,
    TracerProvider,
)
from opentelemetry.sdk.trace.id_generator import IdGenerator

from otel_trace import config
from otel_trace._guard import report_failure, tell_once
from otel_trace.cluster.process import ProcessKey, host_name
from otel_trace.cluster.run import Run, current_run
from otel_trace.emit.clock import read_anchor
from otel_trace.emit.delivered import find_end, wait_at_exit, wait_until_delivered
from otel_trace.emit.environment import read_limits, read_sampler
from otel_trace.emit.ids import new_span_id, new_trace_id
from otel_trace.emit.launch import ensure_shipper, is_shipped, is_wanted
from otel_trace.emit.processor import JournalProcessor
from otel_trace.emit.resource import describe_child, describe_process, make_resource
from otel_trace.emit.runtime import JournalRuntime, PlainRuntime
from otel_trace.emit.self_check import is_fast_span_sound
from otel_trace.journal.clean import clean_attributes
from otel_trace.journal.format import FORMAT
from otel_trace.journal.place import Place, journal_root, open_place
from otel_trace.journal.runs import remove_old_runs
from otel_trace.journal.spill import save_from_scratch
from otel_trace.journal.writer import Writer
from otel_trace.version import __version__

FLUSH_SECONDS = 10.0


class _Ids(IdGenerator):
    """Ids of our own generator, for every span of our provider."""

    def generate_span_id(self) -> int:
        return new_span_id()

    def generate_trace_id(self) -> int:
        return new_trace_id()

    def is_trace_id_random(self) -> bool:
        return True


class _Processors(SynchronousMultiSpanProcessor):
    """The processors of our provider: once another one listens, all spans are ordinary."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.runtime: JournalRuntime | None = None

    def add_span_processor(self, span_processor: SpanProcessor) -> None:
        super().add_span_processor(span_processor)
        if self.runtime is not None:
            self.runtime.add_other(span_processor)


class _Provider(TracerProvider):
    """The SDK's provider, with a fork that is safe.

    The SDK detects resources anew in the child, on a thread pool whose lock the fork holds when the pool's
    module was imported after the provider was made: the child would hang.
    """

    def _handle_fork(self) -> None:
        self._tracers_lock = threading.Lock()
        update = getattr(self, "_update_resource", None)  # older ones keep the parent's
        if update is not None:
            update(Resource(describe_child()))


class Started:
    """What this process has started: at most one journal, and the runtime in use."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.writer: Writer | None = None
        self.processor: JournalProcessor | None = None
        self.own: JournalRuntime | None = None
        self.joined: Any = None
        self.is_shipped = False

    def after_fork(self) -> None:
        """Go on in a forked child with a journal of its own."""
        self.lock = threading.RLock()
        if self.writer is not None:
            self.writer.after_fork()
        if self.processor is not None:
            self.processor.after_fork()


_started = Started()
os.register_at_fork(after_in_child=_started.after_fork)


def find_runtime() -> PlainRuntime:
    """Give the runtime for decorators in a program that may or may not have a provider."""
    if os.environ.get("OTEL_PYTHON_TRACER_PROVIDER"):
        trace_api.get_tracer_provider()  # loads the one the environment names
    with _started.lock:
        return _find_runtime()


def _find_runtime() -> PlainRuntime:
    provider = trace_api._TRACER_PROVIDER
    own = _started.own
    if provider is None or (own is not None and provider is own.provider):
        runtime = own or _start_own("")
        runtime.seen = provider
        return runtime
    return PlainRuntime(provider, provider)


def start(*, service_name: str = "", ship: bool = False) -> PlainRuntime:
    """Start recording for the whole program; what `configure()` does."""
    with _started.lock:
        provider = trace_api._TRACER_PROVIDER
        if provider is None:
            own = _started.own or _start_own(service_name)
            trace_api.set_tracer_provider(own.provider)
        elif _started.own is None or provider is not _started.own.provider:
            _join_foreign(provider, ship=ship)
    return find_runtime()


def _join_foreign(provider: Any, *, ship: bool) -> None:
    """Add our journal to a provider that the program has made; its exporters send, ours only if asked to."""
    add = getattr(provider, "add_span_processor", None)
    if add is None:
        tell_once(
            "configure", f"{type(provider).__name__} takes no span processor: its spans are not journalled"
        )
    elif _started.joined is not provider:
        resource = getattr(provider, "resource", None)
        run = current_run()
        writer = _started.writer = _make_writer(
            run, {**describe_process(run), **getattr(resource, "attributes", {})}, ships=ship
        )
        processor = _started.processor = JournalProcessor(writer, flush)
        add(processor)
        _started.joined = provider


def _start_own(service_name: str) -> JournalRuntime:
    """Make our provider with its journal."""
    run = current_run()
    resource = make_resource(run, service_name)
    writer = _started.writer = _make_writer(run, resource.attributes, ships=True)
    processors = _Processors()
    provider = _Provider(
        sampler=read_sampler(),
        resource=resource,
        active_span_processor=processors,
        id_generator=_Ids(),
        span_limits=read_limits(),
    )
    _started.processor = JournalProcessor(writer, flush)
    provider.add_span_processor(_started.processor)
    runtime = JournalRuntime(provider, None, writer, is_sound=is_fast_span_sound(_Ids()))
    processors.runtime = _started.own = runtime
    return runtime


def _make_writer(run: Run, resource: Any, *, ships: bool) -> Writer:
    attributes = dict(resource)
    _started.is_shipped = ships and is_shipped()

    def open_run_place() -> Place:
        root = journal_root()
        place = open_place(root, run.run_id, host_name())
        remove_old_runs(root, config.read("OTELTRACE_KEEP"), run.run_id)
        _close_at_end_of_worker(writer)
        if ships and is_wanted():
            ensure_shipper(place.folder)
            writer.on_tick = functools.partial(ensure_shipper, place.folder)
        return place

    def describe(key: ProcessKey, number: int) -> dict[str, Any]:
        own = attributes
        if key.pid != attributes.get("process.pid"):  # a forked child
            own = {**attributes, **describe_child()}
        return {
            "format": FORMAT,
            "version": __version__,
            "run_id": run.run_id,
            "pid": key.pid,
            "start": key.start,
            "number": number,
            "clock_anchor_ns": read_anchor(),
            "resource": clean_attributes(own)[0],
        }

    writer = Writer(open_run_place, describe)
    atexit.register(_save_journal, run, os.getpid())  # runs after the provider's own handler, made later
    return writer


def _save_journal(run: Run, pid: int) -> None:
    """Save the journal from a folder that goes away with the job."""
    try:
        if os.getpid() != pid:
            return
        if _started.is_shipped:
            wait_at_exit(journal_root() / run.run_id / host_name())
        save_from_scratch(run.run_id, host_name())
    except Exception as error:
        report_failure("saving the journal from the job's scratch folder", error)


def _close_at_end_of_worker(writer: Writer) -> None:
    """Close the journal when a forked worker of multiprocessing ends: `atexit` does not run there."""
    process: Any = sys.modules.get("multiprocessing.process")
    util: Any = sys.modules.get("multiprocessing.util")
    if util is not None and process.parent_process() is not None:
        util.Finalize(None, writer.close, exitpriority=-1000)


def flush(timeout: float = FLUSH_SECONDS) -> bool:
    """Wait until everything so far is on disk and, where it is shipped, acknowledged; True when it is."""
    writer = _started.writer
    if writer is None:
        return True
    is_whole = writer.flush()
    folder = writer.folder
    if not _started.is_shipped or folder is None:
        return is_whole
    wanted = writer.find_position() or find_end(folder)
    poke = functools.partial(ensure_shipper, folder) if is_wanted() else _wait_for_others
    return (wanted is None or wait_until_delivered(folder, wanted, timeout, poke)) and is_whole


def _wait_for_others() -> None:
    """Leave it to the node's service."""


def shutdown() -> None:
    """Close the journal; a later span would open another segment."""
    if _started.writer is not None:
        _started.writer.close()
