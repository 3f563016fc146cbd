"""One side of a comparison: `python -m benchmarks.side MODULE FUNCTION`, told by its standard input when to run.

It answers each number of calls with the CPU seconds they took, of all its threads; a benchmark's own `read_cpu`
may count more.
"""

import sys
import time
from importlib import import_module


def main() -> None:
    """Set the side up, then make a block of calls for each line."""
    module, function = sys.argv[1:]
    home = import_module(module)
    run_block = getattr(home, function)()
    read_cpu = getattr(home, "read_cpu", time.process_time)
    say("ready")
    for line in sys.stdin:
        read_cpu()  # what it takes to find out is over before
        started = read_cpu()
        run_block(int(line))
        say(repr(read_cpu() - started))


def say(answer: str) -> None:
    """Answer with one line, at once."""
    sys.stdout.write(f"{answer}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
