"""How the daemon does, for people and for probes."""
