"""The commands of `indexer`, one file each; the table in `cli.app` loads the one that runs."""
