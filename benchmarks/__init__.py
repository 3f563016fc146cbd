"""What otel_trace costs, each figure against its rival in the same run: `python -m benchmarks`.

Ratios are compared, never seconds with seconds of another day: the two sides take turns, block by block, and each
pair of neighbouring blocks gives one value. CPU time is what counts, of all threads of the process that traces.
"""
