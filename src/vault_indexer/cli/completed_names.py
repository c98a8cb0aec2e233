"""Names that a shell completes."""

from __future__ import annotations

from typing import get_args


def complete_strategy(incomplete: str) -> list[str]:
    """What begins with the last name of a list with commas, behind the names before it."""
    from vault_indexer.config.tables.chunking_options import StrategyName  # brings pydantic along

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in get_args(StrategyName) if name.startswith(last)]
