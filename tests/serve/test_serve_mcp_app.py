"""The SDK is loaded by the first request, and the tools follow the vaults that are kept."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from asgi import exchange

from vault_indexer.config import Settings
from vault_indexer.contract.parameters import Parameter, Value
from vault_indexer.errors import UnavailableError, UsageError
from vault_indexer.model import DaemonState
from vault_indexer.serve.api.endpoints import ENDPOINTS, Endpoint
from vault_indexer.serve.api.respond import AnswerContext
from vault_indexer.serve.mcp.app import McpApp, RowTools, ToolSet, VaultTools
from vault_indexer.serve.mcp.budget import keys
from vault_indexer.serve.mcp.protocol import ADMIN_QUERY
from vault_indexer.serve.mcp.tools import Object, ToolRow
from vault_indexer.vaults import ClosedVault, Vaults

if TYPE_CHECKING:
    from mcp.server import MCPServer

Ask = Callable[..., Awaitable[tuple[int, dict[str, Any]]]]


HEADERS = [(b"host", b"h"), (b"content-type", b"application/json"), (b"accept", b"application/json")]


def conversation(tools: ToolSet, talk: Callable[[Ask], Awaitable[None]]) -> None:
    """A conversation with the application of these tools."""
    app = McpApp(tools)

    async def ask(method: str, **params: object) -> tuple[int, dict[str, Any]]:
        """Status and body of the answer to a request."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        found = await exchange(app, f"/mcp?{ADMIN_QUERY}", "POST", body, headers=HEADERS)
        return found.status, found.json.get("result", found.json)

    async def run() -> None:
        await talk(ask)

    asyncio.run(run())


def closed(*names: str) -> list[ClosedVault]:
    return [ClosedVault(name, Path(name), UnavailableError(f"{name} is closed")) for name in names]


def test_the_tools_follow_the_vaults_that_are_kept() -> None:
    vaults = Vaults(closed("garden"), may_change=True)

    async def talk(ask: Ask) -> None:
        async def choices() -> list[str] | None:
            """The vaults that a tool can name."""
            _, found = await ask("tools/list")
            tools = {one["name"]: one for one in found["tools"]}
            vault = tools["related"]["inputSchema"]["properties"].get("vault")
            return vault and list(vault["enum"])

        assert await choices() is None
        vaults.replace(closed("sky", "garden"), Settings())
        assert await choices() == ["garden", "sky"]
        for name in ("sky", "garden"):
            _, found = await ask("tools/call", name="related", arguments={"path": "Moon", "vault": name})
            assert found["content"][0]["text"] == f"{name} is closed"
        vaults.replace(closed("garden"), Settings())
        assert await choices() is None

    conversation(VaultTools(AnswerContext(vaults, DaemonState()), ENDPOINTS, 60.0), talk)


def rows(timeout_s: float = 60.0) -> RowTools:
    """Two tools: one adds, the other fails in the way that it is told."""

    def add(given: Mapping[str, Value]) -> Object:
        return {"sum": int(str(given["a"])) + int(str(given["b"])), "cost": 9}

    def fail(given: Mapping[str, Value]) -> Object:
        raise UsageError("it is\nnot so") if given["known"] else KeyError("secret")

    def row(name: str, help: str, *parameters: Parameter) -> Endpoint[Any]:
        return Endpoint(
            name=name, path="/", help=help, own_parameters=parameters, answer="JsonValue", answer_help=""
        )

    a, b = (Parameter(name=name, kind=int, default=1, help="") for name in "ab")
    adding = row("add", "Adds.", a, b)
    failing = row("fail", "Fails.", Parameter(name="known", kind=bool, default=False, help=""))
    return RowTools([ToolRow(adding, add, keys("sum")), ToolRow(failing, fail)], "Add with add.", timeout_s)


def test_a_row_is_a_tool_whose_answers_have_the_keys_to_keep(caplog: pytest.LogCaptureFixture) -> None:
    async def talk(ask: Ask) -> None:
        _, listed = await ask("tools/list")
        tools = {one["name"]: one for one in listed["tools"]}
        assert list(tools) == ["add", "fail"]
        assert tools["add"]["description"] == "Adds."
        assert tools["add"]["inputSchema"]["properties"].keys() == {"a", "b"}
        assert tools["add"]["annotations"]["readOnlyHint"] is True
        assert "outputSchema" not in tools["add"]
        _, found = await ask("tools/call", name="add", arguments={"a": 2, "b": 3})
        assert found["structuredContent"] == json.loads(found["content"][0]["text"]) == {"sum": 5}
        for given, said in (
            ({"known": True}, "it is not so"),
            ({"known": False}, "internal error: see the log"),
            ({"unknown": 1}, "unknown key 'unknown' (fail has known)"),
        ):
            _, failed = await ask("tools/call", name="fail", arguments=given)
            assert (failed["isError"], failed["content"][0]["text"]) == (True, said)

    with caplog.at_level(logging.ERROR):
        conversation(rows(), talk)
    assert [one.getMessage() for one in caplog.records] == ["the tool fail failed"]


class Counted:
    """Implements ToolSet: those of `rows`, which cannot be made so many times first."""

    def __init__(self, failures: int) -> None:
        self._failures = failures
        self._rows = rows()
        self.made = 0
        self.followed = 0

    def make_server(self, sdk: Any) -> MCPServer[Any]:
        self.made += 1
        if self.made <= self._failures:
            raise ImportError("no SDK here")
        return self._rows.make_server(sdk)

    def follow(self) -> None:
        self.followed += 1


def test_a_start_that_failed_is_tried_again_and_requests_that_come_meanwhile_wait_for_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tools = Counted(1)

    async def talk(ask: Ask) -> None:
        status, refused = await ask("tools/list")
        assert (status, refused["error"]["kind"]) == (503, "internal")
        assert refused["error"]["message"] == "the MCP server could not be started: see the daemon's log"
        found = await asyncio.gather(*(ask("tools/list") for _ in range(3)))
        assert [status for status, _ in found] == [200, 200, 200]

    with caplog.at_level(logging.ERROR):
        conversation(tools, talk)
    assert (tools.made, tools.followed) == (2, 3)
    assert "no SDK here" in caplog.text


@pytest.mark.parametrize(
    ("body", "code"),
    [
        *((one, -32700) for one in (b"", b"\xff", b"[" * 100_000)),
        *((one, -32600) for one in (b"null", b"[]")),
        *((b'{"jsonrpc":"2.0","id":%b,"method":"ping"}' % one, -32600) for one in (b"{}", b"[1]", b"1.5")),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32700),
        (b"{", -32700),
    ],
)
def test_a_body_without_a_usable_id_gets_the_error_of_the_protocol(body: bytes, code: int) -> None:
    found = asyncio.run(exchange(McpApp(rows()), "/mcp", "POST", body, headers=HEADERS))
    assert (found.status, found.json["id"], found.json["error"]["code"]) == (400, None, code)
