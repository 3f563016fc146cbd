"""One side of a comparison: `python -m benchmarks.side MODULE FUNCTION`, told by its standard input when to run.

It answers each number of calls with the CPU seconds they took, of all its threads.
"""

import sys
import time
from importlib import import_module


def main() -> None:
    """Set the side up, then make a block of calls for each line."""
    module, function = sys.argv[1:]
    run_block = getattr(import_module(module), function)()
    say("ready")
    for line in sys.stdin:
        started = time.process_time()
        run_block(int(line))
        say(repr(time.process_time() - started))


def say(answer: str) -> None:
    """Answer with one line, at once."""
    sys.stdout.write(f"{answer}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
