"""What commands print: hits, rows, reports, progress and help."""
