"""A training program whose spans are shipped by the environment: `... STEPS SPANS PAUSE`; it prints whether all arrived."""

import sys
import time

import otel_trace as ot

steps, spans, pause = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])


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
sys.stdout.write(f"{ot.flush(20)}\n")
