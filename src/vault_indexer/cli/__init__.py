"""The command `indexer`: one file per command, and a table that loads the one that runs."""
