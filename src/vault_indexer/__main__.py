"""`python -m vault_indexer`: the command `indexer`."""

from vault_indexer.cli.app import main

if __name__ == "__main__":
    main()
