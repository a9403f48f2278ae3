"""A small world that behaves like GitHub, for the demo, tests and benchmarks."""
