"""A training program whose spans are shipped by the environment: `... STEPS SPANS PAUSE [PATIENCE]`.

It prints whether all arrived.
"""

import sys
import time

import otel_trace as ot

steps, spans, pause = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
patience = float(sys.argv[4]) if len(sys.argv) > 4 else 20


@ot.traced
def work(number: int, text: str = "abc") -> int:
    """Return what came in, so that the span has a parameter and a result."""
    return number


ot.configure()
for step in range(steps):
    with ot.step(step), ot.stage("forward"):
        for number in range(spans):
            work(number)
    time.sleep(pause)
sys.stdout.write(f"{ot.flush(patience)}\n")
