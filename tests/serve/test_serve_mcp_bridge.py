"""The bridge alone, against a daemon of a few lines; and tools that need no index."""

from __future__ import annotations

import errno
import io
import json
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO, cast

import pytest
from golden_cases import check_golden, of_parts
from http_servers import send, serving
from hypothesis import example, given
from hypothesis import strategies as st
from mcp.shared.inbound import NAME_BEARING_METHODS, decode_header_value, encode_header_value
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
)
from waiting import DEADLINE_S, wait_until

from vault_indexer.daemon.discovery import DaemonInfo
from vault_indexer.errors import DaemonError
from vault_indexer.serve.api.endpoints import ENDPOINTS
from vault_indexer.serve.mcp import protocol
from vault_indexer.serve.mcp.bridge import MAX_LINE_BYTES, MAX_REQUESTS, Bridge, header_value
from vault_indexer.serve.mcp.views import tool_views


def test_the_names_are_those_of_the_sdk() -> None:
    assert dict(protocol.NAMED_BY) == dict(NAME_BEARING_METHODS)
    assert protocol.VERSION_KEY == PROTOCOL_VERSION_META_KEY
    assert protocol.CLIENT_KEY == CLIENT_INFO_META_KEY
    assert protocol.CAPABILITIES_KEY == CLIENT_CAPABILITIES_META_KEY
    assert protocol.SERVER_KEY == SERVER_INFO_META_KEY


@example("=?base64?eA==?=")
@example("=?base64?eA==")
@example("eA==?=")
@example(" x")
@example("x ")
@example("x")
@example("vault://Ä/b c.md")
@given(st.text())
def test_any_name_fits_into_a_header(name: str) -> None:
    assert decode_header_value(header_value(name)) == name
    assert header_value(name) == encode_header_value(name) or not name


def modern(request_id: int, method: str, **params: object) -> bytes:
    meta = {protocol.VERSION_KEY: protocol.MODERN_VERSIONS[-1], protocol.CAPABILITIES_KEY: {}}
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": meta}}
    return json.dumps(message).encode() + b"\n"


class ScriptedDaemon:
    """Answers requests with what `answer` makes of them, or on the connection itself by `hold`, and keeps
    them with their headers; the warm-up gets no content."""

    def __init__(
        self,
        answer: Callable[[dict[str, Any]], bytes | dict[str, Any]] = lambda _: b"",
        hold: Callable[[BaseHTTPRequestHandler], object] | None = None,
    ) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.paths: set[str] = set()
        self.url = ""
        self._answer = answer
        self._hold = hold

    def respond(self, request: BaseHTTPRequestHandler) -> None:
        message = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        if message["method"] == "ping":
            send(request, 200, b"")
            return
        self.requests.append(message)
        self.paths.add(request.path)
        self.headers.append(dict(request.headers.items()))
        if self._hold:
            self._hold(request)
            return
        found = self._answer(message)
        send(request, 200, found if isinstance(found, bytes) else json.dumps(found).encode())

    def bridge(
        self,
        lines: Iterable[bytes],
        out: BinaryIO | Host,
        reach: Callable[[DaemonInfo], DaemonInfo] = lambda info: info,
    ) -> None:
        """A conversation of these lines, where `reach` finds the daemon, given its address."""
        with serving(self.respond) as server:
            self.url = f"http://127.0.0.1:{server.server_port}/vault/a"
            info = DaemonInfo(1, self.url, "the-token", "/v", "")
            Bridge(lambda: reach(info), cast("BinaryIO", out), "1").run(lines)

    def results(self, *lines: bytes) -> list[dict[str, Any]]:
        """What a host that is never asked gets for each of these lines, the last of which is a request."""
        host = Host()
        self.bridge(host.lines(*lines), host)
        return host.results


def said(out: io.BytesIO) -> list[dict[str, Any]]:
    """The messages that were written."""
    return [json.loads(line) for line in out.getvalue().splitlines()]


CANCELLED = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}'


def answering(result: object = 1) -> ScriptedDaemon:
    """A daemon that answers each request with this result."""
    return ScriptedDaemon(lambda _: {"jsonrpc": "2.0", "result": result})


def test_a_request_that_is_cancelled_leaves_the_daemon_and_gets_no_answer() -> None:
    arrived, left, out = threading.Event(), threading.Event(), io.BytesIO()

    def hold(request: BaseHTTPRequestHandler) -> None:
        arrived.set()
        if request.connection.recv(1) == b"":
            left.set()

    def lines() -> Iterator[bytes]:
        yield modern(7, "tools/call", name="sücht", arguments={})
        assert arrived.wait(DEADLINE_S)
        yield CANCELLED

    daemon = ScriptedDaemon(hold=hold)
    daemon.bridge(lines(), out)
    assert left.wait(DEADLINE_S)
    assert out.getvalue() == b""
    (head,) = daemon.headers
    assert {
        "Authorization": "Bearer the-token",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "=?base64?c8O8Y2h0?=",
    }.items() <= head.items()


def test_a_request_that_is_cancelled_before_the_daemon_is_found_gets_no_answer() -> None:
    found, out = threading.Event(), io.BytesIO()

    def reach(info: DaemonInfo) -> DaemonInfo:
        assert found.wait(DEADLINE_S)
        return info

    def lines() -> Iterator[bytes]:
        yield modern(7, "tools/list")
        yield CANCELLED
        found.set()
        yield modern(8, "tools/list")

    answering().bridge(lines(), out, reach)
    assert [one["id"] for one in said(out)] == [8]


def test_the_handshake_does_not_wait_for_the_daemon() -> None:
    out, asked = io.BytesIO(), threading.Event()

    def never() -> DaemonInfo:
        asked.wait(DEADLINE_S)
        raise DaemonError("no daemon here")

    def lines() -> Iterator[bytes]:
        yield legacy(1, "initialize", protocolVersion="1999")
        yield modern(2, "server/discover")
        assert [one["id"] for one in said(out)] == [1, 2]
        yield modern(3, "tools/list")
        asked.set()

    Bridge(never, out, "1").run(lines())
    first, second, third = said(out)
    assert first["result"]["protocolVersion"] == protocol.HANDSHAKE_VERSIONS[-1]
    assert second["result"]["supportedVersions"] == list(protocol.MODERN_VERSIONS)
    assert third["error"]["message"] == "no daemon here"


def legacy(request_id: object, method: str, **params: object) -> bytes:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


def handshake(capabilities: Mapping[str, object], version: str = "2025-11-25") -> bytes:
    client = {"name": "host", "version": "3"}
    return legacy(0, "initialize", protocolVersion=version, capabilities=capabilities, clientInfo=client)


class Host:
    """Implements the end of the pipe that the host reads: it keeps the lines, and answers questions by
    lines of its own."""

    def __init__(self, *answers: dict[str, object]) -> None:
        self._answers = list(answers)
        self.questions: list[dict[str, Any]] = []
        self.results: list[dict[str, Any]] = []
        self.said: SimpleQueue[bytes | None] = SimpleQueue()

    def write(self, line: bytes) -> int:
        message = json.loads(line)
        if message.get("method"):
            self.questions.append(message)
            for wrong in ("nobody asked", None):
                self.said.put(json.dumps({"id": wrong, "result": {"action": "accept"}}).encode())
            self.said.put(json.dumps({"id": message["id"], **self._answers.pop(0)}).encode())
        elif message["id"] != 0:
            self.results.append(message)
            self.said.put(None)
        return len(line)

    def flush(self) -> None:
        """Every line is read at once."""

    def lines(self, *first: bytes) -> Iterator[bytes]:
        """These lines, then the answers of the user until the result is there."""
        yield from first
        while (line := self.said.get(timeout=DEADLINE_S)) is not None:
            yield line


def asking(message: dict[str, Any]) -> dict[str, Any]:
    """A tool that asks until it is told yes."""
    answers = message["params"].get("inputResponses", {})
    if answers.get("confirm", {}).get("action") == "accept":
        result: dict[str, Any] = {"content": [], "resultType": "complete", "_meta": {"of": "the daemon"}}
    else:
        asked = {"method": "elicitation/create", "params": {"mode": "form", "message": "Sure?"}}
        requests = {"confirm": asked}
        result = {"resultType": "input_required", "inputRequests": requests, "requestState": "sealed"}
    return {"jsonrpc": "2.0", "id": "of the daemon", "result": result}


@pytest.mark.parametrize(
    ("version", "asked"),
    [("2025-11-25", {"mode": "form", "message": "Sure?"}), ("2025-06-18", {"message": "Sure?"})],
)
def test_a_question_of_a_tool_goes_to_the_user_of_an_earlier_client(
    version: str, asked: dict[str, object]
) -> None:
    daemon, host = ScriptedDaemon(asking), Host({"result": {"action": "accept", "content": {}}})
    call = legacy("c", "tools/call", name="set_chunker", arguments={"a": 1}, _meta={"progressToken": 5})
    daemon.bridge(host.lines(handshake({"elicitation": {}}, version), call), host)
    (question,) = host.questions
    assert (question["method"], question["params"]) == ("elicitation/create", asked)
    assert host.results == [{"jsonrpc": "2.0", "id": "c", "result": {"content": []}}]
    first, second = daemon.requests
    assert first["params"] == {
        "name": "set_chunker",
        "arguments": {"a": 1},
        "_meta": {
            "progressToken": 5,
            protocol.VERSION_KEY: protocol.MODERN_VERSIONS[-1],
            protocol.CLIENT_KEY: {"name": "host", "version": "3"},
            protocol.CAPABILITIES_KEY: {"elicitation": {}},
        },
    }
    answers = {"inputResponses": {"confirm": {"action": "accept", "content": {}}}, "requestState": "sealed"}
    assert second["params"] == {**first["params"], **answers}
    assert {one["MCP-Protocol-Version"] for one in daemon.headers} == {protocol.MODERN_VERSIONS[-1]}
    assert {one["Mcp-Name"] for one in daemon.headers} == {"set_chunker"}


@pytest.mark.parametrize(
    "answer", [{"result": {"action": "decline"}}, {"result": {}}, {"error": {"code": 1}}]
)
def test_a_tool_that_never_gets_its_answer_is_given_up(answer: dict[str, object]) -> None:
    daemon, host = ScriptedDaemon(asking), Host(*[answer] * 4)
    call = legacy("c", "tools/call", name="set_chunker")
    daemon.bridge(host.lines(handshake({"elicitation": {}}), call), host)
    assert [one["error"]["message"] for one in host.results] == ["the tool asked too often"]
    assert len(daemon.requests) == len(host.questions) == 4
    answered = answer.get("result") or {"action": "cancel"}
    assert daemon.requests[3]["params"]["inputResponses"] == {"confirm": answered}


@pytest.mark.parametrize(
    ("capabilities", "method"),
    [({}, "tools/call"), ({"elicitation": None}, "tools/call"), ({"elicitation": {}}, "tools/list")],
)
def test_other_requests_of_an_earlier_client_are_handed_on_as_they_are(
    capabilities: dict[str, object], method: str
) -> None:
    daemon = ScriptedDaemon(lambda message: {"jsonrpc": "2.0", "result": message["params"]})
    results = daemon.results(handshake(capabilities), legacy("c", method, name="x"))
    assert results == [{"jsonrpc": "2.0", "id": "c", "result": {"name": "x"}}]
    (head,) = daemon.headers
    assert head["MCP-Protocol-Version"] == "2025-11-25"
    assert head["Authorization"] == "Bearer the-token"
    assert daemon.paths == {"/vault/a/mcp"}
    assert "Mcp-Method" not in head


@pytest.mark.parametrize("kind", [{}, {"resultType": "complete"}, {"resultType": "later"}])
def test_a_result_that_asks_nothing_is_handed_on_without_what_an_earlier_client_does_not_know(
    kind: dict[str, str],
) -> None:
    known = {"content": [], "inputRequests": {"a": {}}}
    daemon = answering({**known, **kind, "_meta": {}})
    results = daemon.results(handshake({"elicitation": {}}), legacy("c", "tools/call", name="search"))
    assert results == [{"jsonrpc": "2.0", "id": "c", "result": known}]
    assert len(daemon.requests) == 1


@pytest.mark.parametrize(
    ("sends", "reasons"),
    [
        (b"", ("Remote end closed connection without response", os.strerror(errno.ECONNRESET))),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
            ("IncompleteRead(5 bytes read, 4 more expected)", os.strerror(errno.ECONNRESET)),
        ),
    ],
)
def test_a_daemon_that_hangs_up_is_named_with_the_reason(sends: bytes, reasons: tuple[str, ...]) -> None:
    daemon = ScriptedDaemon(hold=lambda request: request.wfile.write(sends))
    (failed,) = daemon.results(modern(3, "tools/list"))
    address, _, reason = failed["error"]["message"].partition(" does not answer: ")
    assert (failed["id"], failed["error"]["code"]) == (3, -32603)
    assert address == f"the daemon at {daemon.url}"
    assert reason in reasons


def test_a_request_that_cannot_be_sent_is_answered_and_so_are_those_after_it() -> None:
    daemon, host = answering(), Host()
    odd = legacy(3, "tools/list", _meta={protocol.VERSION_KEY: "漢"})

    def lines() -> Iterator[bytes]:
        yield from host.lines(odd)
        yield from host.lines(modern(4, "tools/list"))

    daemon.bridge(lines(), host)
    messages = [one.get("error", {}).get("message") for one in host.results]
    assert messages == ["the bridge failed: UnicodeEncodeError", None]


def test_only_the_request_that_a_notification_cancels_is_given_up() -> None:
    held, arrived, out = threading.Event(), threading.Event(), io.BytesIO()

    def answer(_: dict[str, Any]) -> dict[str, Any]:
        arrived.set()
        assert held.wait(DEADLINE_S)
        return {"jsonrpc": "2.0", "result": 1}

    def lines() -> Iterator[bytes]:
        yield modern(7, "tools/list")
        assert arrived.wait(DEADLINE_S)
        for method, params in (
            ("notifications/cancelled", {"requestId": "7"}),
            ("notifications/cancelled", {"requestId": 8}),
            ("notifications/cancelled", {}),
            ("notifications/progress", {"requestId": 7}),
            ("a", {"requestId": 7}),
        ):
            yield json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()
        held.set()

    ScriptedDaemon(answer).bridge(lines(), out)
    assert json.loads(out.getvalue()) == {"jsonrpc": "2.0", "id": 7, "result": 1}


def test_a_request_too_many_is_refused_until_another_is_answered() -> None:
    held, out = threading.Event(), io.BytesIO()

    def answer(message: dict[str, Any]) -> dict[str, Any]:
        assert held.wait(DEADLINE_S)
        return {"jsonrpc": "2.0", "result": message["params"].get("name")}

    def lines() -> Iterator[bytes]:
        yield from (modern(number, "tools/call", name=f"{number}") for number in range(1, MAX_REQUESTS + 2))
        wait_until(out.getvalue, "the refusal is written")
        held.set()

    ScriptedDaemon(answer).bridge(lines(), out)
    refused, *answered = said(out)
    assert refused["id"] == MAX_REQUESTS + 1
    assert refused["error"] == {"code": -32000, "message": "more than 32 requests at once: try again"}
    assert {one["id"]: one["result"] for one in answered} == {
        number: f"{number}" for number in range(1, MAX_REQUESTS + 1)
    }


def gone_url() -> str:
    """An address at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return f"http://127.0.0.1:{closed.getsockname()[1]}"


def test_a_daemon_that_is_gone_is_looked_for_once_more_and_no_more_while_it_answers() -> None:
    daemon, host, gone = answering(), Host(), gone_url()
    reached: list[str] = []

    def reach(info: DaemonInfo) -> DaemonInfo:
        reached.append(info.url if reached else gone)
        return replace(info, url=reached[-1])

    def lines() -> Iterator[bytes]:
        yield from host.lines(modern(3, "tools/list"))
        yield from host.lines(modern(4, "tools/list"))

    daemon.bridge(lines(), host, reach)
    assert host.results == [{"jsonrpc": "2.0", "id": number, "result": 1} for number in (3, 4)]
    assert (reached[0], len(reached)) == (gone, 2)


def test_where_no_daemon_listens_its_address_is_said() -> None:
    info, host = DaemonInfo(1, gone_url(), "t", "/v", ""), Host()
    Bridge(lambda: info, cast("BinaryIO", host), "1").run(host.lines(modern(3, "tools/list")))
    assert [one["error"]["message"] for one in host.results] == [f"no daemon listens at {info.url}"]


def test_the_page_names_every_tool_with_its_arguments() -> None:
    page = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
    for view in tool_views(ENDPOINTS, strategies=["word"]):
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{view.name}` |")]
        assert row.rpartition(" | ")[2].strip(" |") == ", ".join(
            f"`{one.name}`" for one in view.endpoint.parameters
        )


@pytest.mark.parametrize(
    ("line", "own_id"),
    [
        (
            '{"jsonrpc": "2.0", "id": "a1", "method": "tools/call", "params": {"id": 9, "text": "(long)"}}',
            "a1",
        ),
        ('{"method":"tools/call","params":{"text":"(long)","id":9},"jsonrpc":"2.0","id":7}', 7),
        ('{"params":{"text":"(long)"},"id":-7,"jsonrpc":"2.0","method":"x"}', -7),
        ('{"method":"tools/call","params":{"text":"(long)","id":9}}', None),
        ('{"method":"tools/call","params":{"id":9,"text":"(long)\\",\\"id\\":5}"}}', None),
    ],
)
def test_a_request_that_is_too_long_is_refused_with_its_id(line: str, own_id: object) -> None:
    out = io.BytesIO()
    long = line.replace("(long)", "word " * (MAX_LINE_BYTES // 5)).encode() + b"\n"
    ScriptedDaemon().bridge([long], out)
    (refused,) = said(out)
    assert (refused["id"], refused["error"]["code"]) == (own_id, -32600)


def test_lines_and_answers_are_handled_as_the_golden_says() -> None:
    longest = legacy(6, "ping").strip().ljust(MAX_LINE_BYTES)

    def refused(line: str) -> str:
        out = io.BytesIO()
        too_long = b"{".ljust(MAX_LINE_BYTES + 1)
        sent = too_long if line == "(too long)" else line.encode().replace(b"\\xff", b"\xff")
        ScriptedDaemon().bridge([sent, longest], out)
        *failed, ping = said(out)
        assert (ping["id"], "error" in ping) == (6, False)
        assert all(one["id"] is None for one in failed)
        return "; ".join(f"{one['error']['code']} {one['error']['message']}" for one in failed)

    def answered(found: str) -> str:
        (result,) = ScriptedDaemon(lambda _: found.encode()).results(modern(3, "tools/list"))
        return f"{result['id']} {result['error']['code']} {result['error']['message']}"

    def headers(method: str, params: str, version: str) -> str:
        sent = {"id": 3, "method": method, **({"params": json.loads(params)} if params else {})}
        if version:
            sent["params"]["_meta"] = {protocol.VERSION_KEY: json.loads(version)}
        daemon = answering()
        assert daemon.results(json.dumps(sent).encode()) == [{"jsonrpc": "2.0", "id": 3, "result": 1}]
        assert daemon.requests == [sent]
        (head,) = daemon.headers
        return ", ".join(f"{name}: {head[name]}" for name in head if name.lower().startswith("mcp-"))

    check_golden(
        Path(__file__).parent / "fixtures" / "bridge.md",
        {
            "A line that is no message gets the error of the protocol": refused,
            "An answer of the daemon that is no message is an error": answered,
            "A request has headers that repeat what later revisions say": of_parts(headers),
        },
    )
