"""The server holds a bounded number of connections, and none for a client that does not use it."""

import select
import socket
import subprocess
import sys
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
    check_that_busy_connections_are_kept_and_idle_ones_make_room(api)
    said = end(process)
    assert "connections are in use" in said
    assert len(said.splitlines()) == 1, said


def check_that_busy_connections_are_kept_and_idle_ones_make_room(api: Api) -> None:
    with ExitStack() as held:
        # Requests that are answered hold their connections, and half a head does not.
        head = f"Host: 127.0.0.1:{api.port}\r\nAuthorization: Bearer {api.token}\r\n"
        body = "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
        for _ in range(30):
            client = held.enter_context(connected(api))
            client.sendall(b"GET /v1/status HTTP/1.1\r\n")
        until(lambda found: found.status == 200, api, "/v1/status")
        for _ in range(30):
            client = held.enter_context(connected(api))
            client.sendall(f"POST /v1/pause HTTP/1.1\r\n{head}{body}".encode())
        busy = until(lambda found: found.status == 503, api, "/v1/status")
        assert (busy.kind, busy.headers["retry-after"]) == ("busy", "1")
    with ExitStack() as held:
        kept = [held.enter_context(connected(api)) for _ in range(30)]
        for client in kept:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        until(lambda found: found.status == 200, api, "/v1/status")


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


@pytest.mark.slow
def test_a_client_that_does_not_read_is_dropped(api: Api) -> None:
    host, token = f"Host: 127.0.0.1:{api.port}\r\n", f"Authorization: Bearer {api.token}\r\n"
    request = f"GET /openapi.json HTTP/1.1\r\n{host}{token}\r\n"
    with connected(api) as client:
        client.sendall(request.encode() * 500)
        client.settimeout(1)
        deadline = time.monotonic() + 3 * MINUTE
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            while time.monotonic() < deadline:
                try:
                    client.send(b"G")
                except TimeoutError:
                    continue
                select.select([], [], [client], 1)


SHORT_OF_FILES = """
import asyncio, logging, os, resource, sys
import uvicorn
from uvicorn.server import ServerState
from vault_indexer.serve.http.connections import Acceptor, Connection
from vault_indexer.serve.server import bind

async def answer(scope, receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})

async def main():
    listener = bind(0)
    config = uvicorn.Config(answer, lifespan="off", log_config=None, http=Connection, ws="none")
    config.load()
    state = ServerState()
    acceptor = Acceptor(listener, lambda: Connection(config, state, {}), state.connections, 10**6)
    print(listener.getsockname()[1], flush=True)
    limit = len(os.listdir("/dev/fd")) + 10
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    serving = asyncio.create_task(acceptor.run())
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    serving.cancel()

logging.basicConfig(level=logging.WARNING)
asyncio.run(main())
"""


def test_a_shortage_of_file_descriptors_is_said_once_and_waited_out() -> None:
    command = [sys.executable, "-c", SHORT_OF_FILES]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        port = int(process.stdout.readline())
        clients = [socket.create_connection(("127.0.0.1", port), timeout=MINUTE) for _ in range(40)]
        assert "no file descriptor is left" in process.stderr.readline()
        # Each one that leaves makes room for another.
        for client in clients:
            with client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                assert client.recv(1 << 10).startswith(b"HTTP/1.1 204 ")
        _, said = process.communicate(timeout=MINUTE)
    assert process.returncode == 0
    assert said == ""
