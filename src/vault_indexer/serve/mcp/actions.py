"""What tools do beyond asking the service: given to the server when it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vault_indexer.model import JsonValue


@dataclass(frozen=True, slots=True)
class EvalRequest:
    """Which golden cases an agent wants to have run. Both folders are in the vault; without `snapshots`, it
    is that of the cases. `agent` "" means the cases of all agents."""

    cases: Path
    snapshots: Path | None
    layers: tuple[int, ...]
    live: bool
    agent: str


EvalRunner = Callable[[EvalRequest], Mapping[str, JsonValue]]
"""Runs cases and returns the report as JSON. It is called in a thread, and raises VaultIndexerError."""


class StrategySetting(Protocol):
    """The key `chunking.strategy` of the vault's configuration."""

    @property
    def choices(self) -> Sequence[str]:
        """The strategies that may be chosen."""
        ...

    def current(self) -> str:
        """The strategy in use. Raises ConfigError."""
        ...

    def choose(self, strategy: str) -> None:
        """Write it; the daemon notices and rebuilds. Raises VaultIndexerError."""
        ...


@dataclass(frozen=True, slots=True)
class AgentActions:
    """Each action that is None is a tool that is not offered."""

    strategy: StrategySetting | None = None
    run_evals: EvalRunner | None = None


NO_ACTIONS = AgentActions()
"""Of a server that only asks the service."""
