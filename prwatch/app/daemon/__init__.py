"""The long-running process: its services, its supervisor and its socket."""
