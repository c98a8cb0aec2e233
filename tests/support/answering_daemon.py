"""A daemon as its clients see it: an announced process that gives the answers which a test has set."""

from __future__ import annotations

import hmac
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from http_servers import send, serving

from vault_indexer.contract.codec import encode
from vault_indexer.daemon.discovery import DaemonInfo, write_daemon
from vault_indexer.model import Proof
from vault_indexer.serve.api.endpoints import PROOF, Endpoint

TOKEN = "t" * 40
_IN_VAULT = re.compile("^/vault/[^/]+")


class AskedFor(NamedTuple):
    """A request: its path and parameters. Those of GET are texts."""

    path: str
    parameters: Mapping[str, object]


class Reply(NamedTuple):
    """A status and a body as they are sent."""

    status: int
    body: bytes


@dataclass
class AnsweringDaemon:
    """Its `url`, and what it was asked for, but for the proof of its token. An endpoint without an answer
    is a mistake of the test, of which the client is told."""

    url: str = ""
    pid: int = field(default_factory=os.getpid)
    requests: list[AskedFor] = field(default_factory=list)
    _replies: dict[tuple[str, str], list[Reply]] = field(default_factory=dict)

    def answer(self, endpoint: Endpoint[Any], *answers: object) -> None:
        """Give these answers, which are dataclasses of `model`, in turn; the last one again and again."""
        replies = [Reply(200, json.dumps(encode(one)).encode()) for one in answers]
        self.reply(endpoint, *replies)

    def fail(self, endpoint: Endpoint[Any], kind: str, message: str) -> None:
        """Report an error."""
        body = json.dumps({"error": {"kind": kind, "message": message}})
        self.reply(endpoint, Reply(500, body.encode()))

    def reply(self, endpoint: Endpoint[Any], *replies: Reply) -> None:
        """Send this, whatever it is."""
        self._replies[endpoint.method, endpoint.path] = list(replies)

    def info(self, vault: str | Path = "") -> DaemonInfo:
        """What it announces: this process; without a vault it is the daemon of all vaults."""
        return DaemonInfo(self.pid, self.url, TOKEN, str(vault), "2026-01-01T00:00:00Z")

    def announce(self, folder: Path, vault: str | Path = "") -> None:
        """Write its `daemon.json` into a folder."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_daemon(folder, self.info(vault))

    def take_requests(self) -> list[AskedFor]:
        """Those since the last look."""
        taken, self.requests = self.requests, []
        return taken

    def respond(self, method: str, target: str, body: bytes) -> Reply:
        """The reply to a request."""
        parts = urlsplit(target)
        given = json.loads(body) if body else dict(parse_qsl(parts.query))
        self.requests.append(AskedFor(parts.path, given))
        replies = self._replies.get((method, _IN_VAULT.sub("", parts.path)))
        if not replies:
            return Reply(404, b'{"error": {"kind": "none", "message": "the test has set no answer"}}')
        return replies.pop(0) if len(replies) > 1 else replies[0]


@contextmanager
def answering_daemon() -> Iterator[AnsweringDaemon]:
    """One that listens on loopback for the time of the block."""
    daemon = AnsweringDaemon()

    def respond(request: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        if parts.path == PROOF.path:
            message = f"{server.server_port}:{parse_qsl(parts.query)[0][1]}".encode()
            proof = Proof(hmac.digest(TOKEN.encode(), message, "sha256").hex(), daemon.pid)
            send(request, 200, json.dumps(encode(proof)).encode())
            return
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        may_ask = request.headers["Authorization"] == f"Bearer {TOKEN}"
        reply = daemon.respond(request.command, request.path, body) if may_ask else Reply(401, b"{}")
        send(request, reply.status, reply.body)

    with serving(respond) as server:
        daemon.url = f"http://127.0.0.1:{server.server_port}"
        yield daemon
