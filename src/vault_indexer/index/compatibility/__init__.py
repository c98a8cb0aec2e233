"""What an index was built with, and whether the settings and the vault still fit it."""
