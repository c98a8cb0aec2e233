"""The commands of `indexer`, in one file each; the table in `cli.app` loads the one that runs."""
