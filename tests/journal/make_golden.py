"""Write the golden segment of the current format: run once for each new format, never to make a test pass.

python -m tests.journal.make_golden
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from otel_trace.cluster.process import ProcessKey
from otel_trace.journal.format import FORMAT
from otel_trace.journal.writer import Writer
from tests.journal.factories import START_NS, TRACE, Shared, make_place

GOLDEN = Path(__file__).parent / "golden"
SITE = {
    "name": "train_step",
    "scope": ["train", "", ""],
    "attributes": {"code.function.name": "train.train_step", "code.line.number": 12},
    "params": ["param.lr", "param.batch"],
}
FACTS = {".shape": [8, 16], ".dtype": "float32", ".device": "cpu", ".summary": "float32[8, 16] cpu"}


def write_golden(folder: Path) -> Path:
    """Write a segment with every kind of record, and return its path."""
    header = {
        "format": FORMAT,
        "version": "0.1.0",
        "run_id": "golden",
        "pid": 4242,
        "start": 77,
        "number": 1,
        "clock_anchor_ns": 1_700_000_000_000_000_000,
        "resource": {"service.name": "train.py", "training.rank": 0},
    }
    writer = Writer(lambda: make_place(folder), lambda *_: header)
    writer._key = ProcessKey(4242, 77)
    site, facts, step = Shared(SITE), Shared(FACTS), Shared({"training.step": 3, "training.loop": "train"})
    writer.start(site, TRACE, 1, None, START_NS, [0.1, facts], step)
    writer.event(1, START_NS + 10, "variable.change", {"variable.name": "loss", "variable.value": "0.5"})
    writer.link(1, TRACE, 9, {"why": "resumed"})
    writer.start(
        site,
        TRACE,
        2,
        1,
        START_NS + 20,
        ["text", {".in_words": "NaN"}],
        step,
        {"k": 2, "n": "renamed", "t": "a=b"},
    )
    writer.end(2, START_NS + 30, facts, {"s": (2, "ValueError: no"), "d": (1, 2, 3)})
    writer.end(1, START_NS + 40, 0.25)
    writer.start(site, TRACE, 3, 1, START_NS + 50, [0.1, None])
    writer.ledger.count("no_space", 4)
    path = writer.segment.path
    writer.close()
    return path


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / f"format-{FORMAT}.bin").write_bytes(write_golden(Path(name)).read_bytes())
