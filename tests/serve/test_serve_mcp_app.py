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
from mcp_in_process import StrategyInMemory

from vault_indexer.config import Settings
from vault_indexer.contract.parameters import Parameter, Value
from vault_indexer.errors import UnavailableError, UsageError
from vault_indexer.model import DaemonState
from vault_indexer.serve.api.endpoints import ENDPOINTS, Endpoint
from vault_indexer.serve.api.respond import AgentActions, AnswerContext
from vault_indexer.serve.mcp.app import McpApp, RowTools, ToolSet, VaultTools
from vault_indexer.serve.mcp.budget import keys
from vault_indexer.serve.mcp.protocol import ADMIN_QUERY
from vault_indexer.serve.mcp.tools import Object, ToolRow
from vault_indexer.vaults import ClosedVault, Vaults

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

Ask = Callable[..., Awaitable[tuple[int, dict[str, Any]]]]


def conversation(tools: ToolSet, talk: Callable[[Ask], Awaitable[None]]) -> None:
    """A conversation with the application of these tools."""
    app = McpApp(tools)

    async def ask(method: str, **params: object) -> tuple[int, dict[str, Any]]:
        """Status and body of the answer to a request."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = [(b"host", b"h"), (b"content-type", b"application/json"), (b"accept", b"application/json")]
        found = await exchange(
            app, f"/mcp?{ADMIN_QUERY}", "POST", json.dumps(message).encode(), headers=headers
        )
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

    conversation(
        VaultTools(AnswerContext(vaults, DaemonState()), ENDPOINTS, 60.0),
        talk,
    )


@pytest.mark.parametrize(
    ("actions", "more"),
    [
        (AgentActions(), set()),
        (AgentActions(strategy=StrategyInMemory()), {"set_chunker"}),
    ],
    ids=["none", "strategy"],
)
def test_an_action_that_is_there_is_a_tool(actions: AgentActions, more: set[str]) -> None:
    context = AnswerContext(Vaults(closed("garden")), DaemonState(), actions_of=lambda _: actions)

    async def talk(ask: Ask) -> None:
        _, found = await ask("tools/list")
        tools = {one["name"]: one["inputSchema"]["properties"] for one in found["tools"]}
        assert tools.keys() & {"set_chunker"} == more
        if "set_chunker" in more:
            assert tools["set_chunker"]["strategy"]["enum"] == ["paragraph", "word"]

    conversation(VaultTools(context, ENDPOINTS, 60.0), talk)


def rows(timeout_s: float = 60.0) -> RowTools:
    """Two tools: one adds, the other fails in the way that it is told."""

    def add(given: Mapping[str, Value]) -> Object:
        return {"sum": int(str(given["a"])) + int(str(given["b"])), "cost": 9}

    def fail(given: Mapping[str, Value]) -> Object:
        raise UsageError("it is\nnot so") if given["known"] else KeyError("secret")

    a, b = (Parameter(name=name, kind=int, default=1, help="") for name in "ab")
    known = Parameter(name="known", kind=bool, default=False, help="")
    adding: Endpoint[Any] = Endpoint(
        name="add", path="/add", help="Adds.", own_parameters=(a, b), answer="JsonValue", answer_help=""
    )
    failing: Endpoint[Any] = Endpoint(
        name="fail", path="/fail", help="Fails.", own_parameters=(known,), answer="JsonValue", answer_help=""
    )
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

    def make_manager(self) -> StreamableHTTPSessionManager:
        self.made += 1
        if self.made <= self._failures:
            raise ImportError("no SDK here")
        return self._rows.make_manager()

    def follow(self) -> None:
        self.followed += 1


def test_requests_that_come_meanwhile_wait_for_the_one_start() -> None:
    tools = Counted(0)

    async def talk(ask: Ask) -> None:
        found = await asyncio.gather(*(ask("tools/list") for _ in range(3)))
        assert [status for status, _ in found] == [200, 200, 200]

    conversation(tools, talk)
    assert (tools.made, tools.followed) == (1, 3)


def test_a_start_that_failed_is_said_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    tools = Counted(1)

    async def talk(ask: Ask) -> None:
        status, refused = await ask("tools/list")
        assert (status, refused["error"]["kind"]) == (503, "internal")
        assert refused["error"]["message"] == "the MCP server could not be started: see the daemon's log"
        assert (await ask("tools/list"))[0] == 200

    with caplog.at_level(logging.ERROR):
        conversation(tools, talk)
    assert (tools.made, tools.followed) == (2, 1)
    assert "no SDK here" in caplog.text


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"null", -32600),
        *((b'{"jsonrpc":"2.0","id":%b,"method":"ping"}' % one, -32600) for one in (b"{}", b"[1]", b"1.5")),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32700),
        (b"{", -32700),
    ],
)
def test_a_body_without_a_usable_id_gets_the_error_of_the_protocol(body: bytes, code: int) -> None:
    headers = [(b"host", b"h"), (b"content-type", b"application/json"), (b"accept", b"application/json")]
    found = asyncio.run(exchange(McpApp(rows()), "/mcp", "POST", body, headers=headers))
    assert (found.status, found.json["id"], found.json["error"]["code"]) == (400, None, code)
