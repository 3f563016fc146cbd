"""Read a run back: `open_run()` gives its traces and spans, the same from every source.

With no argument it is the newest run on this machine; else a run id or its beginning, a path (a journal, a file of OTLP
JSON), or the URL of a Jaeger or Tempo. `run.traces` and `trace.spans` are lists; `trace.roots` and
`trace.children(span)` are the tree.
"""

from otel_trace.view.model import Run, Span, Trace
from otel_trace.view.opening import open_run

__all__ = ["Run", "Span", "Trace", "open_run"]
