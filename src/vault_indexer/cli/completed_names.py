"""Names that a shell completes: constants, so that completing loads nothing heavy."""

from __future__ import annotations

STRATEGIES = (
    "header_based",
    "none",
    "markdown",
    "paragraph",
    "word",
    "token",
    "recursive",
    "boundary",
    "discourse",
    "semantic",
    "hierarchical",
    "parent_child",
    "code",
    "llm",
    "agentic",
    "custom",
)
"""As `config` names them; a test compares the two. That package brings pydantic along."""


def complete_strategy(incomplete: str) -> list[str]:
    """What begins with the last name of a list with commas, behind the names before it."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in STRATEGIES if name.startswith(last)]
