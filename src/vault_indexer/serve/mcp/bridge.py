"""Connects standard input and output to the daemon: JSON-RPC lines become HTTP requests with the token.

Hosts start a server for each conversation and drop a slow one, so this module imports neither the SDK nor
pydantic. The bridge answers the handshake itself, from the server description in `protocol`, and passes every
other request to the daemon.
"""

from __future__ import annotations

import base64
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from http.client import HTTPConnection, HTTPException
from queue import Empty, SimpleQueue
from typing import BinaryIO, cast
from urllib.parse import urlsplit

from vault_indexer.daemon.discovery import DaemonInfo
from vault_indexer.errors import DaemonError, VaultIndexerError
from vault_indexer.serve.mcp import protocol
from vault_indexer.text.control_characters import json_text

MAX_REQUESTS = 32
"""The maximum number of concurrent requests, equal to the daemon's limit (`server.max_concurrent`)."""

MAX_LINE_BYTES = 1 << 20
"""The maximum size of a body that the daemon accepts."""

_TIMEOUT_S = 660.0
"""The daemon times out earlier and reports it."""

_USER_TIMEOUT_S = 600.0
"""The time limit for a question to the user."""

_DRAIN_S = 60.0
"""The time limit for pending answers after the end of the input."""

_MAX_ROUNDS = 4
_INTERNAL_ERROR, _BUSY = -32603, -32000
_ID_REACH = 1_000
_ID = rb'"id"\s*:\s*("[^"\\\x00-\x1f]*"|-?(?:0|[1-9]\d{0,18}))\s*'
_FIRST_ID = re.compile(rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*' + _ID + rb"[,}]")
_LAST_ID = re.compile(rb"[\]}\"],\s*" + _ID + rb'(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*\}\s*\Z')
"""Where a request has its id. A brace that ends the line ends the request, and no object within it."""

_PLAIN = re.compile(r"[\x21-\x7E]([\x20-\x7E]*[\x21-\x7E])?")

Message = dict[str, object]
"""JSON-RPC as received: the bridge reads a few keys and passes on the rest."""


class Bridge:
    """One conversation with a host.

    `reach` finds the daemon or starts it; it is called in a thread, at the beginning and again when nothing
    listens any more. `send` writes one line. Requests are answered in threads, each as soon as its answer is
    ready. `run` returns when the input has ended and all pending requests are answered.
    """

    def __init__(self, reach: Callable[[], DaemonInfo], out: BinaryIO, version: str, query: str = "") -> None:
        """`query` is the query of the address at which the daemon is asked."""
        self._daemon = _Daemon(reach, query)
        self._out = out
        self._version = version
        self._writing = threading.Lock()
        self._client: Message = {}
        self._negotiated = ""
        self._under_way: dict[str, _Call] = {}
        self._questions: dict[str, SimpleQueue[Message]] = {}
        self._idle = threading.Condition()

    def run(self, lines: Iterable[bytes]) -> None:
        # The daemon starts while the host is still shaking hands.
        threading.Thread(target=self._daemon.warm_up, daemon=True).start()
        for line in lines:
            if line.strip():
                self._take(line)
        deadline = time.monotonic() + _DRAIN_S
        with self._idle:
            while self._under_way and time.monotonic() < deadline:
                self._idle.wait(deadline - time.monotonic())

    def _take(self, line: bytes) -> None:
        if len(line) > MAX_LINE_BYTES:
            self._fail(
                _id_of(line), protocol.INVALID_REQUEST, f"not a message: more than {MAX_LINE_BYTES} bytes"
            )
            return
        if fault := protocol.fault_of(line):
            self._fail(None, *fault)
            return
        message: Message = json.loads(line)
        if "method" not in message:
            self._resolve(message)
        elif "id" not in message:
            self._notified(message)
        else:
            self._request(message)

    def _request(self, message: Message) -> None:
        local = self._local_result(message)
        if local is not None:
            self._send({"jsonrpc": "2.0", "id": message["id"], "result": local})
            return
        call = _Call(message)
        with self._idle:
            is_full = len(self._under_way) >= MAX_REQUESTS
            if not is_full:
                self._under_way[call.key] = call
        if is_full:
            self._fail(message["id"], _BUSY, f"more than {MAX_REQUESTS} requests at once: try again")
        else:
            # Daemon threads do not prevent the exit when the time for pending answers is over.
            threading.Thread(target=self._answer, args=(call,), daemon=True).start()

    def _local_result(self, message: Message) -> Message | None:
        """The answer to a handshake; None for a message that the daemon has to answer."""
        method, params = message["method"], _object(message.get("params"))
        version = _version_of(params)
        if method == "initialize" and not version:
            self._client = params
            found = protocol.initialize_result(self._version, params.get("protocolVersion"))
            self._negotiated = str(found["protocolVersion"])
            return found
        if method == "ping" and not version:
            return {}
        if method == "server/discover" and version in protocol.MODERN_VERSIONS:
            return protocol.discover_result(self._version)
        return None

    def _notified(self, message: Message) -> None:
        """Cancels a request by closing its connection. The other notifications need no answer and change
        nothing."""
        if message["method"] == "notifications/cancelled":
            wanted = _key(_object(message.get("params")).get("requestId"))
            with self._idle:
                call = self._under_way.get(wanted)
            if call is not None:
                call.cancel()

    def _answer(self, call: _Call) -> None:
        try:
            reply = self._reply(call)
        except VaultIndexerError as error:
            reply = protocol.error_message(
                call.message["id"], _INTERNAL_ERROR, " ".join(str(error).split("\n"))
            )
        except Exception as error:  # noqa: BLE001 - a request always gets an answer
            reply = protocol.error_message(
                call.message["id"], _INTERNAL_ERROR, f"the bridge failed: {type(error).__name__}"
            )
        # Clients expect no answer to a cancelled request.
        if reply is not None and not call.is_cancelled:
            self._send(reply)
        with self._idle:
            self._under_way.pop(call.key, None)
            self._idle.notify_all()

    def _reply(self, call: _Call) -> Message | None:
        params = _object(call.message.get("params"))
        if _version_of(params):
            return self._daemon.post(call, call.message, _version_of(params))
        elicitation = _object(self._client.get("capabilities")).get("elicitation")
        if call.message["method"] == "tools/call" and isinstance(elicitation, dict):
            return self._call_that_may_ask(call, params)
        return self._daemon.post(call, call.message, "", self._negotiated)

    def _call_that_may_ask(self, call: _Call, params: Message) -> Message | None:
        """A tool call from a client that began with a handshake and can ask its user.

        The daemon keeps no connection to such a client. So the call is made as in the later revisions, in
        which the tool answers with its question. The question goes to the client as a request, and the call
        is repeated with the user's answer.
        """
        version = protocol.MODERN_VERSIONS[-1]
        envelope = {
            protocol.VERSION_KEY: version,
            protocol.CLIENT_KEY: self._client.get("clientInfo"),
            protocol.CAPABILITIES_KEY: self._client.get("capabilities"),
        }
        asked = {**params, "_meta": {**_object(params.get("_meta")), **envelope}}
        for _ in range(_MAX_ROUNDS):
            reply = self._daemon.post(call, {**call.message, "params": asked}, version)
            result = _object((reply or {}).get("result"))
            if result.get("resultType") != "input_required":
                for name in ("resultType", "_meta"):
                    result.pop(name, None)
                return reply
            answers = {
                name: self._ask_user(_object(question))
                for name, question in _object(result.get("inputRequests")).items()
            }
            asked = {**asked, "inputResponses": answers, "requestState": result.get("requestState")}
        raise DaemonError("the tool asked too often")

    def _ask_user(self, question: Message) -> Message:
        params = dict(_object(question.get("params")))
        if self._negotiated < "2025-11-25":
            params.pop("mode", None)  # introduced by that revision
        pending: SimpleQueue[Message] = SimpleQueue()
        name = f"vault-indexer-{id(pending)}"
        self._questions[name] = pending
        self._send({"jsonrpc": "2.0", "id": name, "method": question.get("method"), "params": params})
        try:
            return pending.get(timeout=_USER_TIMEOUT_S) or {"action": "cancel"}
        except Empty:
            return {"action": "cancel"}
        finally:
            self._questions.pop(name, None)

    def _resolve(self, message: Message) -> None:
        pending = self._questions.get(str(message.get("id")))
        if pending is not None:
            pending.put(_object(message.get("result")))

    def _fail(self, request_id: object, code: int, text: str) -> None:
        self._send(protocol.error_message(request_id, code, text))

    def _send(self, message: Mapping[str, object]) -> None:
        line = json_text(message, is_compact=True).encode("utf-8", "replace")
        with self._writing:
            self._out.write(line + b"\n")
            self._out.flush()


class _Call:
    """A request that the daemon answers, and its connection."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.key = _key(message["id"])
        self.is_cancelled = False
        self.connection: HTTPConnection | None = None

    def cancel(self) -> None:
        """Closes the connection, which makes the daemon abandon the search."""
        # First: the thread that the closed connection wakes checks it.
        self.is_cancelled = True
        waiting = self.connection.sock if self.connection else None
        if waiting is not None:
            try:
                waiting.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # already ended


class _Daemon:
    """The daemon's `/mcp`. `reach` runs once, at the first request, and again after the daemon has gone."""

    def __init__(self, reach: Callable[[], DaemonInfo], query: str = "") -> None:
        self._reach = reach
        self._path = f"{protocol.PATH}?{query}" if query else protocol.PATH
        self._reaching = threading.Lock()
        self._info: DaemonInfo | None = None

    def warm_up(self) -> None:
        """Makes the daemon load the SDK while the host reads the handshake. The first request reports any
        failure."""
        call = _Call({"jsonrpc": "2.0", "id": 0, "method": "ping"})
        try:
            self.post(call, call.message, "")
        except VaultIndexerError:
            return

    def post(self, call: _Call, message: Message, version: str, negotiated: str = "") -> Message | None:
        """The answer to a message; None if it has none. `version` is a revision without handshake,
        `negotiated` one with a handshake. Raises VaultIndexerError."""
        body = json.dumps(message).encode()
        headers = {
            **_routing(message, version),
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        if negotiated:
            headers["MCP-Protocol-Version"] = negotiated
        info = self._found(None)
        try:
            return self._exchange(info, call, body, headers)
        except ConnectionRefusedError:
            info = self._found(info)
        try:
            return self._exchange(info, call, body, headers)
        except ConnectionRefusedError as error:
            raise DaemonError(f"no daemon listens at {info.url}") from error

    def _found(self, gone: DaemonInfo | None) -> DaemonInfo:
        with self._reaching:
            if self._info is None or self._info == gone:
                self._info = None
                self._info = self._reach()
            return self._info

    def _exchange(
        self, info: DaemonInfo, call: _Call, body: bytes, headers: Mapping[str, str]
    ) -> Message | None:
        address = urlsplit(info.url)
        connection = HTTPConnection(address.netloc, timeout=_TIMEOUT_S)
        call.connection = connection
        try:
            sent = {**headers, "Authorization": f"Bearer {info.token}"}
            connection.request("POST", address.path + self._path, body, sent)
            response = connection.getresponse()
            return _answer_of(response.read(), call.message["id"])
        except ConnectionRefusedError:
            raise
        except (OSError, HTTPException) as error:
            if call.is_cancelled:
                return None
            reason = getattr(error, "strerror", None) or error
            raise DaemonError(f"the daemon at {info.url} does not answer: {reason}") from error
        finally:
            connection.close()


def _routing(message: Message, version: str) -> dict[str, str]:
    """The headers that repeat values of the body, so that proxies need not read it."""
    if not version:
        return {}
    method = str(message["method"])
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": method}
    named = _object(message.get("params")).get(protocol.NAMED_BY.get(method, ""))
    if isinstance(named, str):
        headers["Mcp-Name"] = header_value(named)
    return headers


def header_value(text: str) -> str:
    """Encodes a text as a header value: unchanged if it is plain ASCII, otherwise in base64 with the
    protocol's marker."""
    if _PLAIN.fullmatch(text) and not (text.startswith("=?base64?") and text.endswith("?=")):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="


def _answer_of(content: bytes, request_id: object) -> Message | None:
    if not content:
        return None
    try:
        found = json.loads(content)
    except ValueError as error:
        raise DaemonError("the daemon's answer is not JSON: it may be of another version") from error
    if isinstance(found, dict) and "jsonrpc" in found:
        return {**found, "id": request_id}
    refused = _object(_object(found).get("error"))
    return protocol.error_message(
        request_id, _INTERNAL_ERROR, str(refused.get("message", "the daemon does not serve /mcp"))
    )


def _version_of(params: Message) -> str:
    """The revision in the envelope of a request; "" for revisions with a handshake."""
    named = _object(params.get("_meta")).get(protocol.VERSION_KEY)
    return named if isinstance(named, str) else ""


def _id_of(line: bytes) -> object:
    """The id of a request that is too long to be read, if it is the first or the last key next to its
    parameters, otherwise None."""
    found = _FIRST_ID.match(line[:_ID_REACH]) or _LAST_ID.search(line[-_ID_REACH:])
    return json.loads(found[1].decode("utf-8", "replace")) if found else None


def _object(value: object) -> Message:
    return cast("Message", value) if isinstance(value, dict) else {}


def _key(request_id: object) -> str:
    return json.dumps(request_id)
