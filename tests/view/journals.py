"""Real journals for the tests of finding and opening runs."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from otel_trace.cluster.process import ProcessKey, host_name
from otel_trace.journal.place import open_place
from otel_trace.journal.writer import Writer

START_NS = 1_800_000_000_000_000_000


@dataclass(eq=False)
class Site:
    """What all calls of a function share."""

    data: Mapping[str, Any] = field(default_factory=lambda: {"name": "load", "params": ["param.path"]})


def write_run(root: Path, run_id: str, *, num_spans: int = 1, is_ended: bool = True, age_s: int = 0) -> Path:
    """Write a run of `load` spans of 1 ms and return its folder; `age_s` makes it older than others."""

    def describe(key: ProcessKey, number: int) -> dict[str, Any]:
        resource = {"service.name": "train.py"}
        return {"format": 1, "run_id": run_id, "pid": key.pid, "number": number, "resource": resource}

    writer = Writer(lambda: open_place(root, run_id, host_name()), describe)
    site = Site()
    for number in range(1, num_spans + 1):
        start_ns = START_NS + number * 1_000_000
        writer.start(site, number.to_bytes(16, "big"), number, None, start_ns, ["a.csv"])
        if is_ended:
            writer.end(number, start_ns + 1_000_000)
    writer.close()
    moment = START_NS // 1_000_000_000 - age_s
    for path in (root / run_id).rglob("*.seg"):
        os.utime(path, (moment, moment))
    return root / run_id
