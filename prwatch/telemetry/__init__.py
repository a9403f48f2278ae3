"""Logs, redaction and the words to systemd."""
