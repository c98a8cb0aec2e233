"""The work between edits: its runner, and the tasks that maintain a generation."""
