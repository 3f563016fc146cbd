"""Errors of reading back that are not a missing run.

OtelTraceError
├── NothingSelected     a run has nothing of what was asked for
└── SourceFailed        a file or a backend cannot be read
"""

from otel_trace.errors import OtelTraceError


class NothingSelected(OtelTraceError):
    """A run has nothing of what was asked for."""


class SourceFailed(OtelTraceError):
    """A file or a backend cannot be read; `status` is the HTTP status of an answer that says so, else 0."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status
