"""Where a run can be read from: a journal, an OTLP JSON file, Jaeger, Tempo. Each gives the same read model."""
