"""The HTTP client factory: one client per purpose, one TLS context, few in flight."""
