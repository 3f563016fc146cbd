"""All errors that `otel_trace` raises where raising is right: reading back, the command line, strict mode.

OtelTraceError
├── JournalError          a journal cannot be used
│   ├── FolderRefused     the folder is not safely ours
│   └── FormatRefused     a segment of a version that this reader does not know
├── RunNotFound           no run answers to that name
└── ExporterRefused       the exporter would not do what the environment asks for
"""


class OtelTraceError(Exception):
    """The root of every error of this package."""


class JournalError(OtelTraceError):
    """A journal cannot be written or read."""


class FolderRefused(JournalError):
    """A folder belongs to somebody else or is a symbolic link."""


class FormatRefused(JournalError):
    """A segment was written in a format that this reader does not know."""


class RunNotFound(OtelTraceError):
    """No run on this machine answers to that name."""


class ExporterRefused(OtelTraceError):
    """An exporter cannot be made, or would send with less protection than was asked for."""
