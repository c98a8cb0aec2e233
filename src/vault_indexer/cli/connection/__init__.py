"""Connects a command to an index: through a daemon, or in its own process."""
