"""Names that a shell completes: constants, so that completing loads nothing heavy."""

from __future__ import annotations

import os
from typing import Annotated

import typer

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


_VARIABLE = "INDEXER_CHUNKING_STRATEGY"


def _use_strategy(name: str) -> str:
    """As if the variable were set: for this process and those that it starts."""
    if name:
        os.environ[_VARIABLE] = name
    return name


Strategy = Annotated[
    str,
    typer.Option(
        "--strategy",
        metavar="NAME",
        autocompletion=complete_strategy,
        callback=_use_strategy,
        help=f"Split the notes by this strategy, this time [{_VARIABLE}].",
    ),
]
