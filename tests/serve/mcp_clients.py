"""The SDK's client against the real daemon: over HTTP, and over stdio through `indexer mcp`."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from serve_api import Api
from waiting import DEADLINE_S

from vault_indexer.serve.mcp.protocol import ADMIN_QUERY

ERAS = ("legacy", "2026-07-28")
TRANSPORTS = ("http", "stdio")
T = TypeVar("T")


def bridge_command(api: Api) -> list[str]:
    place = ["--vault", str(api.vault), "--index-dir", str(api.index_dir)]
    return [sys.executable, "-m", "vault_indexer.cli", "mcp", *place, "--tools", "admin"]


@asynccontextmanager
async def connected(api: Api, transport: str, era: str, **options: Any) -> AsyncIterator[Client]:
    if transport == "stdio":
        command = bridge_command(api)
        server = StdioServerParameters(command=command[0], args=command[1:])
        async with Client(server, mode=era, **options) as client:
            yield client
        return
    headers = {"Authorization": f"Bearer {api.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=DEADLINE_S) as http:
        url = f"http://127.0.0.1:{api.port}/mcp?{ADMIN_QUERY}"
        async with Client(streamable_http_client(url, http_client=http), mode=era, **options) as client:
            yield client


def talk(
    api: Api, transport: str, era: str, conversation: Callable[[Client], Awaitable[T]], **options: Any
) -> T:
    """What a conversation with one client returns."""

    async def run() -> T:
        with anyio.fail_after(DEADLINE_S):
            async with connected(api, transport, era, **options) as client:
                return await conversation(client)

    return anyio.run(run)


def call(
    api: Api, tool: str, given: Mapping[str, object], transport: str = "http", era: str = ERAS[1]
) -> CallToolResult:
    return talk(api, transport, era, lambda client: client.call_tool(tool, dict(given)))


def answer(api: Api, tool: str, **given: object) -> Mapping[str, Any]:
    """The answer of a tool."""
    return structured(call(api, tool, given))


def structured(result: CallToolResult) -> Mapping[str, Any]:
    assert not result.is_error, result.content
    assert result.structured_content is None  # a second copy of the same words
    head, *blocks = (block.text for block in result.content if block.type == "text")
    found: dict[str, Any] = json.loads(head)
    found.pop("about")
    if blocks and "start_line" in found:
        return {**found, "text": blocks[0]}
    notes: list[dict[str, Any]] = []
    for block in blocks:
        if block.startswith('{"path":'):
            notes.append(json.loads(block))
        else:
            notes[-1]["text"] = block
    return {**found, "notes": notes} if blocks else found
