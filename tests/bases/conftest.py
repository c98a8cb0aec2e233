from indexed_vault import open_notes

__all__ = ["open_notes"]
