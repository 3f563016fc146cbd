"""The journal: append-only files that outlive the process which writes them. Plain data; no torch, no SDK."""
