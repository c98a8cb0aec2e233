"""The tools of vaults that are open in this process, called with the SDK's client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio
from indexed_vault import write_notes
from mcp.client.client import Client
from mcp.server import MCPServer
from mcp_clients import ERAS, structured
from mcp_types import CallToolResult
from reliability_lab import assembly_of
from reliability_lab import opened as indexed
from waiting import DEADLINE_S

from vault_indexer.errors import UsageError
from vault_indexer.model import DaemonState
from vault_indexer.serve.api.endpoints import ENDPOINTS
from vault_indexer.serve.api.respond import AgentActions, AnswerContext, no_actions
from vault_indexer.serve.http.vault_choice import CHOSEN_VAULT
from vault_indexer.serve.mcp.protocol import ADMIN_QUERY, OPTIONS
from vault_indexer.serve.mcp.server import make_tools, server_with
from vault_indexer.serve.mcp.views import tool_views
from vault_indexer.service import VaultService
from vault_indexer.vaults import Vaults

T = TypeVar("T")


@contextmanager
def opened(folder: Path, notes: Mapping[str, str]) -> Iterator[VaultService]:
    """The service of a new vault with these notes."""
    write_notes(folder, notes)
    assembly = assembly_of(folder, folder.with_name(f"{folder.name} index"))
    with indexed(assembly) as session:
        yield VaultService(session, assembly.chunker)


class StrategyInMemory:
    """Implements StrategySetting."""

    choices: Sequence[str] = ("paragraph", "word")

    def __init__(self, strategy: str = "word") -> None:
        self.strategy = strategy
        self.is_fixed = False

    def current(self) -> str:
        return self.strategy

    def check(self, strategy: str) -> None:  # noqa: ARG002 - of the protocol
        if self.is_fixed:
            raise UsageError("chunking.strategy is set by the command")

    def choose(self, strategy: str) -> None:
        self.strategy = strategy


@dataclass(frozen=True)
class Tools:
    """The tools that answer for some vaults."""

    vaults: Vaults
    actions_of: Callable[[str], AgentActions] = no_actions

    def context(self) -> AnswerContext:
        return AnswerContext(self.vaults, DaemonState(), actions_of=self.actions_of)

    def with_strategy(self) -> tuple[Tools, StrategyInMemory]:
        """The same with a tool that sets the strategy."""
        setting = StrategyInMemory()
        return replace(self, actions_of=lambda _: AgentActions(setting)), setting

    def server(self) -> MCPServer[Any]:
        """A server of these tools."""
        context = self.context()
        setting = context.actions.strategy
        views = tool_views(
            ENDPOINTS, strategies=setting.choices if setting else (), vaults=context.vaults.names
        )
        return server_with(make_tools(context, views, DEADLINE_S), context, DEADLINE_S)

    def talk(self, conversation: Callable[[Client], Awaitable[T]], *, address: str = "", **options: Any) -> T:
        """What a conversation returns: at the address of one vault, or at that of all."""
        return talk_with(self.server(), conversation, address, **options)

    def call(self, tool: str, address: str = "", /, **given: object) -> CallToolResult:
        """The result of a call."""
        return self.talk(lambda client: client.call_tool(tool, given), address=address)

    def answer(self, tool: str, address: str = "", /, **given: object) -> Mapping[str, Any]:
        """The answer of a tool."""
        return structured(self.call(tool, address, **given))

    def error(self, tool: str, address: str = "", /, **given: object) -> str:
        """The one line of a call that failed."""
        result = self.call(tool, address, **given)
        assert result.is_error
        (said,) = texts(result)
        assert "\n" not in said
        return said


def texts(result: CallToolResult) -> list[str]:
    """The blocks of a result."""
    return [block.text for block in result.content if block.type == "text"]


async def listed(client: Client) -> dict[str, Mapping[str, Any]]:
    """The schema of the arguments of each tool."""
    return {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}


def talk_with(
    server: MCPServer[Any],
    conversation: Callable[[Client], Awaitable[T]],
    address: str = "",
    *,
    era: str = ERAS[1],
    queries: frozenset[str] = frozenset({ADMIN_QUERY}),
    **options: Any,
) -> T:
    """What a conversation with a server returns. All of its calls name the same vault, or none: here they
    share what belongs to a request over HTTP."""

    async def run() -> T:
        CHOSEN_VAULT.set(address)
        OPTIONS.set(queries)
        async with Client(server, mode=era, **options) as client:
            return await conversation(client)

    return anyio.run(run)
