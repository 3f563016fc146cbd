"""How large traces become: Tempo keeps 5 MB of one and drops the rest without a word, so we count it ourselves."""

MAX_TRACE_BYTES = 5_000_000
_MAX_TRACES = 10_000


class TraceSizes:
    """The bytes sent of the traces that were in use last."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}

    def add(self, trace_id: str, num_bytes: int) -> bool:
        """Count a span that was sent; say whether its trace is larger than Tempo keeps."""
        size = self._sizes.get(trace_id)
        if size is None:
            size = 0
            if len(self._sizes) >= _MAX_TRACES:
                del self._sizes[next(iter(self._sizes))]
        self._sizes[trace_id] = size = size + num_bytes
        return size > MAX_TRACE_BYTES
