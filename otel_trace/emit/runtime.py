"""Where the spans of our decorators go: one of these, chosen by `start`.

A `JournalRuntime` belongs to a provider of ours and makes fast spans as long as nothing but our journal
listens there. A `PlainRuntime` belongs to anybody's provider and makes that provider's ordinary spans.
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from opentelemetry import context as context_api, trace as trace_api
from opentelemetry.context import Context
from opentelemetry.context.contextvars_context import ContextVarsRuntimeContext
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider, sampling
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, TraceFlags, TraceState

from otel_trace._guard import report_failure
from otel_trace.describe.kind import describe_kind
from otel_trace.describe.value import Ladder, make_ladder
from otel_trace.emit.call import OpenCall, PlainCall, Unsampled
from otel_trace.emit.fast_span import open_fast_span
from otel_trace.emit.ids import new_span_id, new_trace_id, plan_ids
from otel_trace.emit.shared import FACTS_KEY, NO_FACTS, SharedFacts, SpanPlan, TraceShare
from otel_trace.emit.site import Site
from otel_trace.journal.clean import MAX_ATTRIBUTES
from otel_trace.journal.writer import Writer

if TYPE_CHECKING:
    from contextvars import ContextVar

_MAX_EXTRA = 64

Joined = tuple[TraceShare, SpanContext | None, int | None, dict[str, Any] | None]


class PlainRuntime:
    """Opens ordinary spans of a provider."""

    def __init__(self, provider: Any, seen: Any, ladder: Ladder | None = None) -> None:
        self.provider = provider
        self.seen = seen  # the global provider at the time; another one means another runtime
        self.ladder = ladder or make_ladder()
        self._tracers: dict[str, Any] = {}

    def open(self, site: Site, values: Sequence[Any]) -> OpenCall | None:
        """Open a span below the current one and make it current."""
        context = context_api.get_current()
        facts: Any = context.get(FACTS_KEY)
        if site.stage is not None:
            facts = (facts or NO_FACTS).at_stage(site.stage)
        return self._open_plain(site, self.describe_one_by_one(values), context, facts)

    def open_planned(self, site: Site, ids: SpanPlan, facts: SharedFacts) -> OpenCall | None:
        """Open a span of a step, with the ids planned for it where the provider takes them."""
        context = trace_api.set_span_in_context(trace_api.INVALID_SPAN)
        if ids.parent_id is not None:
            outer = SpanContext(
                ids.trace_id, ids.parent_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED)
            )
            context = trace_api.set_span_in_context(NonRecordingSpan(outer))
        with plan_ids(ids.trace_id, ids.span_id):
            return self._open_plain(site, [], context, facts)

    def _open_plain(
        self, site: Site, described: list[Any], context: Context, facts: SharedFacts | None
    ) -> OpenCall:
        span = self.tracer(site).start_span(site.name, context, attributes=site.expand(described, facts))
        return PlainCall(span, facts)

    def describe(self, value: Any) -> Any:
        """Describe one value."""
        return self.ladder.describe(value)

    def describe_one_by_one(self, values: Sequence[Any], error: Exception | None = None) -> list[Any]:
        """Describe values so that one that fails does not take the others with it."""
        return [self._describe_safely(value) for value in values]

    def _describe_safely(self, value: Any) -> Any:
        try:
            return self.ladder.describe(value)
        except Exception as error:
            report_failure("the description of a value", error)
            return describe_kind(value)

    def tracer(self, site: Site) -> Any:
        """Give the provider's tracer for the module of a site."""
        tracer = self._tracers.get(site.scope)
        if tracer is None:
            tracer = self._tracers[site.scope] = self.provider.get_tracer(site.scope)
        return tracer


class JournalRuntime(PlainRuntime):
    """Opens fast spans that go straight into the journal."""

    provider: TracerProvider

    def __init__(self, provider: TracerProvider, seen: Any, writer: Writer, *, is_sound: bool) -> None:
        super().__init__(provider, seen)
        self.writer = writer
        sampler = provider.sampler
        self.is_fast = is_sound and _is_contextvar() and _is_plain(sampler)
        self._follows_parent = type(sampler) in _PARENT_BASED
        self._never_samples = getattr(sampler, "_root", sampler) is sampling.ALWAYS_OFF
        limits = provider._span_limits
        is_usual = limits.max_span_attribute_length is None
        self.max_extra = _MAX_EXTRA if is_usual and limits.max_span_attributes == MAX_ATTRIBUTES else 0
        self.others: tuple[SpanProcessor, ...] = ()  # processors beside the journal's
        self.describers = self.ladder.by_type
        self.learn = self.ladder.learn
        if self.is_fast:
            self.open = functools.partial(open_fast_span, self)  # type: ignore[method-assign] # one call less
        self.context: ContextVar[Context] | None = getattr(
            context_api._RUNTIME_CONTEXT, "_current_context", None
        )

    def open_planned(self, site: Site, ids: SpanPlan, facts: SharedFacts) -> OpenCall | None:
        if not self.is_fast:
            return super().open_planned(site, ids, facts)
        sampler = self.provider.sampler
        result = sampler.should_sample(Context(), ids.trace_id, site.name, SpanKind.INTERNAL, None, ())
        if not result.decision.is_sampled():
            return PlainCall(Unsampled(SpanContext(ids.trace_id, ids.span_id, is_remote=False)), facts)
        share = TraceShare(
            ids.trace_id, TraceFlags(TraceFlags.SAMPLED | _RANDOM), result.trace_state or TraceState()
        )
        outer = None
        if ids.parent_id is not None:
            outer = SpanContext(ids.trace_id, ids.parent_id, is_remote=False, trace_flags=share.flags)
        opened: OpenCall | None = open_fast_span(
            self, site, (), (share, outer, ids.parent_id, ids.span_id, facts)
        )
        return opened

    def add_other(self, processor: SpanProcessor) -> None:
        """Let another processor see all spans from here on: they are ordinary ones, and open ones end there too."""
        self.is_fast = False
        self.open = super().open  # type: ignore[method-assign]
        self.others += (processor,)

    def join_trace(self, context: Context, parent: Any, site: Site) -> Joined | OpenCall | None:
        """Say which trace a span joins that is below an ordinary span, a remote one or none.

        When it is not sampled: None where the spans below it will find out for themselves, else a call that
        tells them.
        """
        outer: SpanContext | None = parent.get_span_context() if parent is not None else None
        if outer is None or not outer.is_valid:
            if self._never_samples:
                return None
            outer = None
        elif self._follows_parent and not outer.trace_flags.sampled and not outer.is_remote:
            return None
        trace_id = outer.trace_id if outer else new_trace_id()
        result = self.provider.sampler.should_sample(
            context, trace_id, site.name, SpanKind.INTERNAL, None, ()
        )
        if not result.decision.is_sampled():
            return PlainCall(Unsampled(SpanContext(trace_id, new_span_id(), is_remote=False)))
        is_random = outer.trace_flags & _RANDOM if outer else _RANDOM
        share = TraceShare(
            trace_id, TraceFlags(TraceFlags.SAMPLED | is_random), result.trace_state or TraceState()
        )
        more = {**(share.more or {}), "r": True} if outer and outer.is_remote else None
        return share, outer, outer.span_id if outer else None, more


_RANDOM = getattr(TraceFlags, "RANDOM_TRACE_ID", 0)


# What `OTEL_TRACES_SAMPLER=parentbased_traceidratio` makes is a class of its own.
_PARENT_BASED = {sampling.ParentBased, sampling.ParentBasedTraceIdRatio}


def _is_contextvar() -> bool:
    return type(context_api._RUNTIME_CONTEXT) is ContextVarsRuntimeContext


def _is_plain(sampler: Any) -> bool:
    """Say whether the sampler adds nothing to spans, and decides for a child as it did for a local parent."""
    if type(sampler) in _PARENT_BASED:
        local = (sampler._local_parent_sampled, sampler._local_parent_not_sampled)
        return local == (sampling.ALWAYS_ON, sampling.ALWAYS_OFF) and _is_plain(sampler._root)
    return type(sampler) in {sampling.StaticSampler, sampling.TraceIdRatioBased}
