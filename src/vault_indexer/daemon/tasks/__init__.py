"""The work between edits: its runner, and the tasks that keep a generation in good order."""
