"""A process of its own that reads journals and sends them over OTLP, on the official exporters."""
