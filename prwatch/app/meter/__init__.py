"""The metrics: read from the parts, and shown over HTTP."""
