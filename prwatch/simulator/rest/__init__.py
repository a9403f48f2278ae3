"""REST answers of the simulated GitHub."""
