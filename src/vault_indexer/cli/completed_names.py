"""Names that a shell completes."""

from __future__ import annotations

from importlib import import_module
from typing import get_args

_STRATEGIES = "vault_indexer.config.tables.chunking_options"
"""Loaded by name, when a strategy is completed: it brings pydantic along."""


def complete_strategy(incomplete: str) -> list[str]:
    """What begins with the last name of a list with commas, behind the names before it."""
    before, comma, last = incomplete.rpartition(",")
    names: tuple[str, ...] = get_args(import_module(_STRATEGIES).StrategyName)
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]
