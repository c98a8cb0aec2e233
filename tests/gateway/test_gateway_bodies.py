"""A keeper that hangs takes the text of its own vaults, and of no other's."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from http_servers import send, serving

from vault_gateway.bodies import HitPlace, KeptBodies
from vault_gateway.metrics import GatewayMetrics
from vault_gateway.milvus import VaultState, place_digest
from vault_gateway.settings import GatewayKeeper

FOLDER = "/notes"


def respond(request: BaseHTTPRequestHandler) -> None:
    """As a daemon that keeps one vault."""
    answer: Any = {"vaults": [{"path": FOLDER, "name": "notes"}]}
    if request.path.startswith("/v1/bodies"):
        answer = {"bodies": [{"key": 1, "body": "text", "path": "a.md", "start_pos": 0, "end_pos": 1}]}
    send(request, 200, json.dumps(answer).encode())


@pytest.fixture
def ports() -> Iterator[tuple[int, int]]:
    """Of a keeper that answers, and of one that does not."""
    with serving(respond) as server, closing(socket.create_server(("127.0.0.1", 0))) as silent:
        yield server.server_port, silent.getsockname()[1]


def test_a_keeper_that_hangs_takes_no_text_of_another(ports: tuple[int, int]) -> None:
    keepers = [
        GatewayKeeper(name=name, url=f"http://127.0.0.1:{port}", token_env="TOKEN")
        for name, port in zip(("good", "silent"), ports, strict=True)
    ]
    bodies = KeptBodies(keepers, {"TOKEN": "t"}, 2.0, GatewayMetrics(frozenset()))
    states = {
        name: VaultState(name, name, name, "c", "m", "", (), 1, 1, 1, 1, place=place_digest(FOLDER, name))
        for name in ("good", "silent")
    }

    def found(vault: str) -> list[HitPlace]:
        return [HitPlace(vault, 1, "a.md", 0, 1)]

    waiting = [threading.Thread(target=bodies.of, args=(found("silent"), states)) for _ in range(60)]
    for thread in waiting:
        thread.start()
    assert bodies.of(found("good"), states).known == {("good", 1): "text"}
    for thread in waiting:
        thread.join()
    bodies.close()
