"""What the expressions of a base can see: a file, the others of the vault, and the formulas of the base."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from vault_indexer.bases.files import VaultFiles
from vault_indexer.bases.values import BaseFile, Value
from vault_indexer.errors import QueryTimeoutError

_PENDING = object()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What all rows of a base share. `this` is the file that shows the base, `until` a time of the monotonic
    clock."""

    files: VaultFiles
    this: BaseFile
    now: datetime
    until: float
    formulas: Mapping[str, Callable[[Scope], Value]] = field(default_factory=dict)


@dataclass(slots=True)
class Scope:
    """A row, with the variables of an expression inside of `map()`, and the values of its formulas so far."""

    evaluation: Evaluation
    file: BaseFile
    names: Mapping[str, Value] = field(default_factory=dict)
    formulas: dict[str, Value] = field(default_factory=dict)

    def tick(self) -> None:
        """Raises QueryTimeoutError if the time is over."""
        if time.monotonic() > self.evaluation.until:
            raise QueryTimeoutError("the base was given up: its expressions take too long")

    def formula(self, name: str) -> Value:
        """The value of a formula for this row. Raises ValueError if there is none or it uses itself."""
        if name not in self.evaluation.formulas:
            raise ValueError(f"formula.{name} is not a formula of this base")
        if name not in self.formulas:
            self.formulas[name] = _PENDING
            try:
                self.formulas[name] = self.evaluation.formulas[name](self)
            finally:
                if self.formulas[name] is _PENDING:
                    del self.formulas[name]
        if self.formulas[name] is _PENDING:
            raise ValueError(f"formula.{name} uses itself")
        return self.formulas[name]
