"""What tools do beyond asking the service: given to the server when it is made."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from vault_indexer.contract.parameters import Value
from vault_indexer.daemon.assembly import Target
from vault_indexer.extensions import offered
from vault_indexer.model import JsonValue
from vault_indexer.serve.mcp.views import ToolView
from vault_indexer.service import VaultService

ToolCall = Callable[[Mapping[str, Value]], dict[str, JsonValue]]
"""Answers a tool, given a value for each of its parameters. It is called in a thread, and raises
VaultIndexerError."""


class ExtensionTool(NamedTuple):
    """A tool of an optional package. `call` is a `ToolCall` that is also given the vault."""

    view: ToolView
    call: Callable[[Target, VaultService, Mapping[str, Value]], dict[str, JsonValue]]


@functools.cache
def extension_tools() -> tuple[ExtensionTool, ...]:
    return tuple(tool for tools in offered("tools") for tool in tools)


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
    """Without a strategy, `set_chunker` is not offered. `tools` are those of optional packages."""

    strategy: StrategySetting | None = None
    tools: Mapping[str, ToolCall] = field(default_factory=dict)


NO_ACTIONS = AgentActions()
"""Of a server that only asks the service."""
