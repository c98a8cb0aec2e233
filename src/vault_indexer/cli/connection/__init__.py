"""How a command reaches an index: through a daemon, or in its own process."""
