"""Everything on disk: the SQLite catalog, which alone is authority, and what is derived from it."""
