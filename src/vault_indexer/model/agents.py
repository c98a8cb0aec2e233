"""What agents alone are answered: part of a note, a change of the strategy, the report of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from vault_indexer.contract.json_value import JsonValue
from vault_indexer.contract.marks import OMIT_EMPTY


@dataclass(frozen=True, slots=True)
class NotePart:
    """Part of a note. Lines are 1-based and inclusive; `next_offset` is where the next page begins, None at
    the end of the part that was asked for."""

    path: str
    start_line: int
    end_line: int
    total_lines: int
    text: str
    modified_time: str
    next_offset: Annotated[int, OMIT_EMPTY] = 0


@dataclass(frozen=True, slots=True)
class StrategyChange:
    """What became of the wish to split notes another way."""

    strategy: str
    previous: str
    changed: bool
    message: str


@dataclass(frozen=True, slots=True)
class EvalReport:
    """The report of an evaluation; `results` has an entry for each case."""

    layers_run: tuple[JsonValue, ...]
    summary: Mapping[str, JsonValue]
    results: tuple[Mapping[str, JsonValue], ...]
