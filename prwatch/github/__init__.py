"""Asking GitHub for little, and judging what it answers."""
