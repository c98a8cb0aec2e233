"""Edits of a configuration file that keep comments and order."""
