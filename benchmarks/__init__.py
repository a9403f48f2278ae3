"""Measures what a quiet cycle costs, side by side with the least that it could cost."""
