"""`/mcp` as an ASGI application that loads the SDK at the first request."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Protocol, cast

from vault_indexer.serve.api.endpoints import Endpoint
from vault_indexer.serve.api.respond import AnswerContext
from vault_indexer.serve.http.guard import Message, Receive, Refusal, Send, refuse, replay
from vault_indexer.serve.mcp.protocol import OPTIONS, PATH, error_message, fault_of
from vault_indexer.serve.mcp.tools import CallWatch, ToolRow
from vault_indexer.serve.mcp.views import ToolView, extension_tools, tool_views
from vault_indexer.system import record

if TYPE_CHECKING:
    from mcp.server import MCPServer
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

MCP_ROUTES = (("POST", PATH), ("POST", f"{PATH}/"))
_LOG = logging.getLogger(__name__)
_FAILED = Refusal(503, "internal", "the MCP server could not be started: see the daemon's log")


class McpApp:
    """The server of the Model Context Protocol, behind the guard, without sessions: requests are independent.

    Loading the SDK takes about two seconds. It happens once, in a thread, at the first request. Requests that
    arrive meanwhile wait for it, while those of other routes are answered. A separate task enters the session
    manager's `run()`, since the lifespan of a mounted application never runs; it ends with the event loop.
    """

    def __init__(self, tools: ToolSet) -> None:
        self._tools = tools
        self._started: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answers a POST. The guard refuses a stream (GET) and the end of a session (DELETE), which the
        protocol allows for a server without sessions."""
        if self._started is None:
            self._started = asyncio.get_running_loop().create_future()
            # Kept, because the event loop has only weak references to tasks.
            self._running = asyncio.create_task(self._run(self._started))
        try:
            # A client that disconnects must not cancel the start for the others.
            manager = await asyncio.shield(self._started)
        except _NotStartedError:
            self._started = None
            await refuse(send, _FAILED)
            return
        self._tools.follow()
        OPTIONS.set(frozenset(scope["query_string"].decode("latin-1").split("&")))
        body: bytes = (await receive()).get("body", b"")  # whole: the guard has read it
        if fault := fault_of(body):  # the SDK would take a request with a wrong id for a notification
            headers = [(b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 400, "headers": headers})
            error = json.dumps(error_message(None, *fault)).encode()
            await send({"type": "http.response.body", "body": error})
            return
        again = replay(body, receive)
        await manager.handle_request(cast("Any", scope), cast("Any", again), cast("Any", send))

    async def _run(self, started: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        try:
            manager = await asyncio.to_thread(self._make_manager)
        except Exception:  # noqa: BLE001 - logged, and reported to the caller
            _LOG.exception("the MCP server could not be started")
            started.set_exception(_NotStartedError())
            return
        async with manager.run():
            started.set_result(manager)
            # The task group of the manager must end in the task that began it, so this task waits until it is
            # cancelled.
            await asyncio.Event().wait()

    def _make_manager(self) -> StreamableHTTPSessionManager:
        sdk = importlib.import_module("vault_indexer.serve.mcp.server")
        return cast("StreamableHTTPSessionManager", sdk.make_manager(self._tools.make_server(sdk)))


class ToolSet(Protocol):
    """The tools of a server, created at the first request."""

    def make_server(self, sdk: Any) -> MCPServer[Any]:
        """Creates the server with its tools, given the module `server`. Called once, in a thread."""

    def follow(self) -> None:
        """Updates the tools before each request."""


class VaultTools:
    """The ToolSet for the vaults of a daemon. Tools name the available vaults, so they change with them."""

    def __init__(self, context: AnswerContext, endpoints: Sequence[Endpoint[Any]], timeout_s: float) -> None:
        self._context = context
        self._endpoints = endpoints
        self._timeout_s = timeout_s
        self._shown: tuple[str, ...] = ()
        self._tools: Sequence[Any] = ()  # types of the SDK, which only `server` loads

    def make_server(self, sdk: Any) -> MCPServer[Any]:
        self._shown = self._context.vaults.names
        self._tools = sdk.make_tools(self._context, self._views(), self._timeout_s)
        return cast("MCPServer[Any]", sdk.server_with(self._tools, self._context, self._timeout_s))

    def follow(self) -> None:
        if self._context.vaults.names != self._shown:
            self._shown = self._context.vaults.names
            for tool, view in zip(self._tools, self._views(), strict=True):
                tool.show(view)

    def _views(self) -> tuple[ToolView, ...]:
        actions = self._context.actions
        return tool_views(
            self._endpoints,
            strategies=actions.strategy.choices if actions.strategy else (),
            more=[tool.view for tool in extension_tools() if tool.view.name in actions.tools],
            vaults=self._shown,
        )


@record
class RowTools:
    """The ToolSet for endpoints that `answer` answers, with one tool for each. `watch` follows its calls."""

    rows: Sequence[ToolRow]
    instructions: str
    timeout_s: float
    watch: CallWatch = nullcontext

    def make_server(self, sdk: Any) -> MCPServer[Any]:
        made = sdk.server_of_rows(self.rows, self.instructions, self.timeout_s, self.watch)
        return cast("MCPServer[Any]", made)

    def follow(self) -> None: ...


class _NotStartedError(Exception):
    """The SDK could not be loaded, or is incompatible."""
