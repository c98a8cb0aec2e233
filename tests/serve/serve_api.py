"""A real server on loopback, in a process of its own, and a client that can misbehave."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

from waiting import DEADLINE_S, wait_until

NOTES = {
    "Bread.md": "# Bread\n\nFlour, water, salt and a ripe starter. See [[Sky]].\n",
    "Sky.md": "# Sky\n\nThe telescope shows the rings of Saturn.\n",
    ".obsidian/secret.md": "# Secret\n\nNot for anybody.\n",
}

PICTURES = {
    "dot.png": base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    ),
    "page.png": b"<html><script>alert(1)</script>",
    "plan.pdf": b"%PDF-1.4",
}


@dataclass(frozen=True)
class Answer:
    """Status, headers in lower case, and body of a response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found

    @property
    def kind(self) -> str:
        """The kind of the error; fails where the body is not an error in our shape."""
        error = self.json["error"]
        assert set(error) == {"kind", "message"}
        assert "\n" not in error["message"]
        return str(error["kind"])


@dataclass(frozen=True)
class Api:
    """Where the server is."""

    port: int
    token: str
    index_dir: Path
    vault: Path

    def connect(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)

    def ask(
        self,
        target: str,
        method: str = "GET",
        body: bytes | Iterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        host: str | None = None,
    ) -> Answer:
        """A request with the right Host and token unless the headers say otherwise ("" leaves one out)."""
        with closing(self.connect()) as connection:
            given = {"Authorization": f"Bearer {self.token}", **(headers or {})}
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            connection.putheader("Host", host if host is not None else f"127.0.0.1:{self.port}")
            for name, value in given.items():
                if value:
                    connection.putheader(name, value)
            if isinstance(body, bytes) and "Content-Length" not in given:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body, encode_chunked=not isinstance(body, bytes))
            return answer_of(connection.getresponse())

    def post(self, target: str, body: bytes, kind: str = "application/json") -> Answer:
        return self.ask(target, "POST", body, {"Content-Type": kind})


def answer_of(response: HTTPResponse) -> Answer:
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, headers, response.read())


def serve(
    root: Path, config: str = "", open_files: int = 0, tuning: str = "", notes: Mapping[str, str] = NOTES
) -> tuple[subprocess.Popen[str], Api]:
    """`indexer serve` on a small vault, with a limit of open files if it is not 0, once its first scan is
    over; the process and where it answers."""
    vault, index_dir, own = root / "vault", root / "index", root / "config.toml"
    for path, text in notes.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text, encoding="utf-8")
    for path, data in PICTURES.items():
        (vault / path).write_bytes(data)
    own.write_text(config)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("INDEXER_")}
    environ["INDEXER_TUNING"] = tuning
    if "[embedding]" not in config:
        environ["INDEXER_EMBEDDING_PROVIDER"] = "wordllama"  # loads fastest
    place = ["--vault", str(vault), "--index-dir", str(index_dir), "--config", str(own)]
    command = [sys.executable, "-m", "vault_indexer.cli"]
    limited = ["sh", "-c", f'ulimit -n {open_files}; exec "$@"', "sh"] if open_files else []
    process = subprocess.Popen(
        [*limited, *command, "serve", *place],
        env=environ,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert process.stderr is not None
    said: list[str] = []
    for line in process.stderr:
        said.append(line)
        if "http://127.0.0.1:" in line:
            break
    assert "http://127.0.0.1:" in said[-1], said
    info = json.loads((index_dir / "daemon.json").read_text())
    api = Api(int(info["url"].rpartition(":")[2]), info["token"], index_dir, vault)
    # The index is built, and notes as young as these are hashed once more.
    wait_until(lambda: api.ask("/v1/status").json["state"] == "ready", "the first scan is over")
    return process, api


def end(process: subprocess.Popen[str]) -> str:
    """SIGTERM; what the server said on standard error."""
    process.terminate()
    _, said = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, said
    return said
