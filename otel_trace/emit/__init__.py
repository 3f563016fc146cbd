"""Spans of OTel: the SDK's provider with our journal processor, and the fast span of our decorators."""
