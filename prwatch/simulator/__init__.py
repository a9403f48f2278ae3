"""A small world that behaves like GitHub, for the demo, tests and benchmarks."""

from prwatch.simulator.faults import Fault
from prwatch.simulator.github_app import GitHubApp
from prwatch.simulator.loopback import serve
from prwatch.simulator.world import DEFAULT_TOKEN, World

__all__ = ["DEFAULT_TOKEN", "Fault", "GitHubApp", "World", "serve"]
