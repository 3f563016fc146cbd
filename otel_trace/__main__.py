"""`python -m otel_trace` is the command `otel-trace`."""

from otel_trace.cli.main import main

if __name__ == "__main__":
    main(prog_name="otel-trace")
