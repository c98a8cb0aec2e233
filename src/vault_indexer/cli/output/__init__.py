"""The output of commands: hits, rows, reports, progress and help."""
