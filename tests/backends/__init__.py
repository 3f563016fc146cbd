"""The real servers that receive what otel_trace sends: Jaeger, Tempo and the OpenTelemetry Collector."""
