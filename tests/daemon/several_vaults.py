"""A daemon of several vaults, as a process: its folders, its configuration, its API."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cli_sandbox import Ran, Sandbox
from waiting import DEADLINE_S, wait_until

NOTES = {
    "garden": {
        "Tomatoes.md": "# Tomatoes\n\nSow the tomatoes in March. They need sun and a trellis.\n",
        "Compost.md": "# Compost\n\nKitchen scraps and leaves become soil. See [[Tomatoes]].\n",
    },
    "work": {
        "Budget.md": "# Budget\n\nThe garden centre sends the invoice for tomatoes in March.\n",
        "Meeting.md": "---\ntags: [team]\n---\n# Meeting\n\nWe talk about the roadmap on Monday.\n",
    },
}


@dataclass(frozen=True)
class Answer:
    status: int
    data: dict[str, Any]


@dataclass(frozen=True)
class House:
    """The sandbox of a daemon that keeps the vaults of its configuration."""

    sandbox: Sandbox

    @property
    def config(self) -> Path:
        return self.sandbox.root / "config" / "vault-indexer" / "config.toml"

    def vault(self, name: str) -> Path:
        return self.sandbox.root / "vaults" / name

    def index_dir(self, name: str) -> Path:
        return self.sandbox.root / "indices" / name

    def write(self, vault: str, path: str, text: str) -> None:
        file = self.vault(vault) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    def configure(self, *names: str) -> None:
        lines = [
            f'{name} = {{ path = "{self.vault(name)}", index_dir = "{self.index_dir(name)}" }}'
            for name in names
        ]
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text("\n".join(["[index]", "workers = 1", "", "[vaults]", *lines, ""]), "utf-8")

    def run(self, *arguments: str, cwd: Path | None = None) -> Ran:
        return self.sandbox.run(*arguments, cwd=cwd)

    @property
    def shared(self) -> dict[str, Any]:
        """The `daemon.json` of all vaults."""
        return _read(self.sandbox.root / "state" / "vault-indexer" / "daemons" / "all" / "daemon.json")

    def announced(self, name: str) -> dict[str, Any]:
        """The `daemon.json` of one vault."""
        return _read(self.index_dir(name) / "daemon.json")

    def connect(
        self, target: str, body: str = "", method: str = "", token: str | None = None
    ) -> HTTPResponse:
        """An answer that the caller reads to its end."""
        port = int(self.shared["url"].rpartition(":")[2])
        connection = HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
        headers = {"Authorization": f"Bearer {self.shared['token'] if token is None else token}"}
        if body:
            headers |= {"Content-Type": "application/json", "Accept": "application/json"}
            headers["MCP-Protocol-Version"] = "2025-06-18"  # for /mcp
        connection.request(method or ("POST" if body else "GET"), target, body or None, headers)
        return connection.getresponse()

    def ask(self, target: str, method: str = "GET", token: str | None = None, body: str = "{}") -> Answer:
        with self.connect(target, body if method == "POST" else "", method, token) as response:
            return Answer(response.status, json.loads(response.read()))

    def vaults(self) -> dict[str, dict[str, Any]]:
        """By name."""
        return {one["name"]: one for one in self.ask("/v1/vaults").data["vaults"]}

    def wait_for(self, name: str, state: str) -> None:
        """Until the vault has the state; one that is ready has all its vectors, too."""

        def has_it() -> bool:
            if self.vaults().get(name, {}).get("state") != state:
                return False
            return state != "ready" or not self.ask(f"/vault/{quote(name)}/v1/status").data["vectors_owed"]

        wait_until(has_it, f"{name} is {state}")

    def hits(self, query: str, more: str = "") -> list[tuple[str, str]]:
        """Vault ("" where none is named) and path of each hit."""
        answer = self.ask(f"/v1/search?q={quote(query)}{more}")
        assert answer.status == 200, answer.data
        return [(hit.get("vault", ""), hit["path"]) for hit in answer.data["results"]]

    def notices(self) -> list[str]:
        """Of a search over all vaults."""
        found: list[str] = self.ask("/v1/search?q=tomatoes").data["notices"]
        return found


def furnish(root: Path) -> House:
    house = House(Sandbox(root))
    for vault, notes in NOTES.items():
        for path, text in notes.items():
            house.write(vault, path, text)
    return house


@contextmanager
def kept(house: House) -> Iterator[subprocess.Popen[str]]:
    """`indexer serve` in the house, once it answers."""
    process = subprocess.Popen(
        [sys.executable, "-m", "vault_indexer.cli", "serve"],
        env=house.sandbox.environ,
        cwd=house.sandbox.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said: list[str] = []
    while not (said and "http://127.0.0.1:" in said[-1]):
        said.append(process.stderr.readline())
        assert said[-1], "".join(said)
    try:
        yield process
    finally:
        process.terminate()
        _, rest = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, rest
    assert "Traceback" not in rest, rest


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text())
    return found
