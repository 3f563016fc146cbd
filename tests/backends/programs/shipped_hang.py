"""A training program that hangs in a step, for so many seconds: `... SECONDS`."""

import sys
import time

import otel_trace as ot


@ot.traced
def load(path: str) -> None:
    """Wait for what never comes."""
    time.sleep(float(sys.argv[1]))


ot.configure()
with ot.step(1):
    with ot.stage("warm"):
        pass
    with ot.stage("data"):
        load("shard-7")
