"""Processes that do jobs for a parent and may die, independent of notes."""
