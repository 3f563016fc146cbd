"""Errors of reading back that are not a missing run.

OtelTraceError
└── NothingSelected     a run has nothing of what was asked for
"""

from otel_trace.errors import OtelTraceError


class NothingSelected(OtelTraceError):
    """A run has nothing of what was asked for."""
