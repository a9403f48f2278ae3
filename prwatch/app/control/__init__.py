"""The control socket: how commands talk with a daemon that runs."""
