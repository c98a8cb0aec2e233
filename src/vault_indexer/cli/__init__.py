"""The command `indexer`: one file a command, a table that loads the one that runs."""
