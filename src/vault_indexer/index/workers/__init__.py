"""Processes that do jobs for a parent and may die; they know no notes."""
