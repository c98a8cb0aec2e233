"""Names that a shell completes, and that options take."""

from __future__ import annotations

from importlib import import_module
from typing import get_args

_STRATEGIES = "vault_indexer.config.tables.chunking_options"
"""Loaded by name, when a strategy is named: it brings pydantic along."""


def strategies() -> tuple[str, ...]:
    """The names of all strategies."""
    names: tuple[str, ...] = get_args(import_module(_STRATEGIES).StrategyName)
    return names


def complete_strategy(incomplete: str) -> list[str]:
    """What begins with the last name of a list with commas, behind the names before it."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in strategies() if name.startswith(last)]
