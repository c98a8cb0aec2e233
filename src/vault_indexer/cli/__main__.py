"""`python -m vault_indexer.cli` is the command `indexer`."""

from vault_indexer.cli.app import main

if __name__ == "__main__":
    main()
