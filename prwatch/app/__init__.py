"""Use cases, loops and the wiring of what is below."""
