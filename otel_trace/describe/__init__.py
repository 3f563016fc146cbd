"""A value becomes a few frozen facts. The user's own code is never called, no device is read, nothing is kept."""
