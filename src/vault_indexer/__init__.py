"""Local search for Markdown vaults: by meaning, by word and by link."""
