"""The server holds a bounded number of connections, and none for a client that does not use it."""

import select
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from serve_api import Answer, Api, end, serve

pytestmark = pytest.mark.long


MINUTE = 60.0


def connected(api: Api) -> socket.socket:
    return socket.create_connection(("127.0.0.1", api.port), timeout=MINUTE)


def waiting(api: Api) -> socket.socket:
    """A connection that need not be accepted yet."""
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(("127.0.0.1", api.port))
    return client


def until(right: Callable[[Answer], bool], api: Api, target: str) -> Answer:
    deadline = time.monotonic() + MINUTE
    while not right(found := api.ask(target)):
        assert time.monotonic() < deadline, found
    return found


def rest(client: socket.socket) -> bytes:
    """What the server still sends until it closes the connection."""
    found = b""
    try:
        while part := client.recv(1 << 16):
            found += part
    except ConnectionResetError:
        pass
    return found


def test_a_flood_of_connections_neither_stops_the_daemon_nor_fills_its_log(tmp_path: Path) -> None:
    process, api = serve(tmp_path, open_files=128)
    with ExitStack() as held:
        flood = [held.enter_context(waiting(api)) for _ in range(300)]
        # A client that waits long enough for idle connections to be closed is served.
        until(lambda found: found.status == 200, api, "/v1/search?q=telescope")
        readable, _, _ = select.select(flood, [], [], MINUTE)
        assert any(rest(client).startswith(b"HTTP/1.1 503 ") for client in readable)
        assert process.poll() is None
    until(lambda found: found.status == 200, api, "/v1/status")
    assert api.post("/v1/rebuild", b"{}").status == 200
    said = end(process)
    assert "connections are in use" in said
    assert len(said.splitlines()) == 1, said


def test_a_client_that_does_not_finish_or_garbles_its_request_is_dropped(tmp_path: Path) -> None:
    process, api = serve(tmp_path, tuning="[server]\ntimeout_s = 0.5\n")
    host = f"Host: 127.0.0.1:{api.port}\r\n"
    token = f"Authorization: Bearer {api.token}\r\n"
    body = "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
    sent = {
        "nothing": "",
        "half a line": "GET /v1/st",
        "half a head": f"GET /v1/status HTTP/1.1\r\n{host}",
        "half of the next request": f"GET /v1/status HTTP/1.1\r\n{host}\r\nGET /v1/st",
        "half a body of a stranger": f"POST /v1/pause HTTP/1.1\r\n{host}{body}",
        "half a body": f"POST /v1/pause HTTP/1.1\r\n{host}{token}{body}",
        "half a body of a long order": f"POST /v1/rebuild HTTP/1.1\r\n{host}{token}{body}",
    }
    with ExitStack() as held:
        clients = {name: held.enter_context(connected(api)) for name in sent}
        for name, client in clients.items():
            client.sendall(sent[name].encode())
        said = {name: rest(client) for name, client in clients.items()}
    answered = {name: answer.split(b" ")[1] for name, answer in said.items() if answer}
    assert answered == {
        "half of the next request": b"401",
        "half a body of a stranger": b"401",
        "half a body": b"504",
        "half a body of a long order": b"504",
    }
    for nonsense in (b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\nHost x\r\n\r\n"):
        with connected(api) as client:
            client.sendall(nonsense)
            head, _, content = rest(client).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 400 ")
            assert b'"error": {"kind": "request"' in content
    assert end(process) == "", "nothing of this is worth a line of the log"
