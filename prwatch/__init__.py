"""Watches GitHub pull requests and publishes what really changed."""

__version__ = "0.1.0"
