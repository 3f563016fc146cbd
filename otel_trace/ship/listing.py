"""The processes that have segments in a folder, listed again only when the folder has changed."""

import time
from pathlib import Path

from otel_trace.cluster.process import ProcessKey
from otel_trace.journal.bound import parse_name

_SETTLED_NS = 1_000_000_000  # a change within one tick of the file system's clock does not show in its time


class Listing:
    """The keys of the processes in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._keys: list[ProcessKey] = []
        self._changed_ns = -1

    def read(self) -> list[ProcessKey]:
        """Give the keys of all processes that have a segment."""
        changed_ns = self._read_change()
        if changed_ns != self._changed_ns:
            found = {parsed[0] for name in self._list_names() if (parsed := parse_name(name))}
            self._keys = sorted(found, key=str)
            is_settled = time.time_ns() - changed_ns > _SETTLED_NS
            self._changed_ns = changed_ns if is_settled else -1
        return self._keys

    def _read_change(self) -> int:
        try:
            return self._folder.stat().st_mtime_ns
        except OSError:
            return 0

    def _list_names(self) -> list[str]:
        try:
            return [path.name for path in self._folder.iterdir()]
        except OSError:
            return []
