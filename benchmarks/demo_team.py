"""A team on one machine: a Milvus server, two keepers, a gateway, and two users with different rights.

    make demo-team

The demo notebook is split into two vaults, each kept by a daemon of its own that publishes to the server
(Milvus Lite behind a port). The gateway searches both, and takes the texts of the hits from the daemons.
Everything is in a temporary folder, listens on 127.0.0.1 only, and ends after 90 seconds at the latest.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlencode

DEMO = Path(__file__).parent.parent / "src" / "vault_indexer" / "demo"
VAULTS: Mapping[str, Sequence[str]] = {"Household": ("Bread", "House"), "Outdoors": ("Sky", "Garden")}
KEEPERS: Mapping[str, str] = {"Household": "alpha", "Outdoors": "beta"}
RIGHTS: Mapping[str, Sequence[str]] = {
    "ana": ("alpha/Household",),
    "ben": ("alpha/Household", "beta/Outdoors"),
}
QUESTIONS = ("how long does the dough rest", "rings of a planet", "slugs eat the tomatoes")
_TIME_S = 90.0
_END_S = 5.0


@dataclass(frozen=True)
class Keeper:
    """A daemon: its name, its vault, where it answers and by which token."""

    name: str
    vault: str
    port: int
    token: str


class Demo:
    """The processes of the demo; all end with it."""

    def __init__(self, folder: Path, processes: ExitStack) -> None:
        self._folder = folder
        self._processes = processes
        self._until = time.monotonic() + _TIME_S
        self._milvus = f"http://127.0.0.1:{free_port()}"

    def run(self) -> None:
        """Start everything, ask, print."""
        print(f"Milvus Lite at {self._milvus}")
        self._start_milvus()
        keepers = [self._start_keeper(vault) for vault in VAULTS]
        tokens = {user: secrets.token_urlsafe(32) for user in RIGHTS}
        port = self._start_gateway(keepers, tokens)
        for user, vaults in RIGHTS.items():
            for vault in vaults:
                self._wait(f"{user} may read {vault}", partial(self._grant, user, vault))
        self._wait("the rights count", lambda: len(vaults_of(port, tokens["ben"])) == len(VAULTS))
        for user, token in tokens.items():
            show(port, user, token)

    def _grant(self, user: str, vault: str) -> bool:
        """Give a right; False while the vault is not published."""
        config = str(self._folder / "gateway.toml")
        command = ["-m", "vault_indexer.cli", "gateway", "--config", config, "grant", user, vault]
        done = subprocess.run([sys.executable, *command], capture_output=True, check=False)
        return done.returncode == 0

    def _start_milvus(self) -> None:
        port = self._milvus.rpartition(":")[2]
        data = self._folder / "milvus"
        self._start(
            ["-m", "milvus_lite", "server", "--data-dir", str(data), "--host", "127.0.0.1", "--port", port]
        )
        self._wait("Milvus Lite listens", lambda: listens(int(port)))

    def _start_keeper(self, vault: str) -> Keeper:
        keeper = Keeper(KEEPERS[vault], vault, free_port(), secrets.token_urlsafe(32))
        root = self._folder / keeper.name
        for folder in VAULTS[vault]:
            shutil.copytree(DEMO / folder, root / vault / folder)
        config = root / "config.toml"
        # One model without weights of each vault: so both are in one collection and one ranking.
        config.write_text(
            f'[index]\nbackend = "milvus"\nworkers = 1\nnice = 0\n[embedding]\nprovider = "wordllama"\n'
            f'[milvus]\nuri = "{self._milvus}"\nkeeper = "{keeper.name}"\n'
            f'store_bodies = false\n[server]\nport = {keeper.port}\ntoken_env = "KEEPER_TOKEN"\n'
        )
        print(f"keeper {keeper.name} with the vault {vault} at http://127.0.0.1:{keeper.port}")
        place = ["--vault", str(root / vault), "--index-dir", str(root / "index"), "--config", str(config)]
        self._start(["-m", "vault_indexer.cli", "serve", *place], {"KEEPER_TOKEN": keeper.token})
        return keeper

    def _start_gateway(self, keepers: Sequence[Keeper], tokens: Mapping[str, str]) -> int:
        port, config = free_port(), self._folder / "gateway.toml"
        parts = [f'bodies = "keepers"\n[milvus]\nuri = "{self._milvus}"\n[server]\nport = {port}\n']
        for keeper in keepers:
            variable = f"TOKEN_OF_{keeper.name.upper()}"
            url = f"http://127.0.0.1:{keeper.port}"
            parts.append(f'[[keepers]]\nname = "{keeper.name}"\nurl = "{url}"\ntoken_env = "{variable}"\n')
        for user, token in tokens.items():
            digest = sha256(token.encode()).hexdigest()
            parts.append(f'[[users]]\nname = "{user}"\ntoken_sha256 = "{digest}"\n')
        config.write_text("".join(parts))
        print(f"gateway at http://127.0.0.1:{port}")
        environ = {f"TOKEN_OF_{keeper.name.upper()}": keeper.token for keeper in keepers}
        self._start(["-m", "vault_indexer.cli", "gateway", "--config", str(config)], environ)
        self._wait("the gateway answers", lambda: listens(port))
        return port

    def _start(self, arguments: Sequence[str], environ: Mapping[str, str] | None = None) -> None:
        self._processes.enter_context(running(arguments, environ or {}, self._folder / "processes.log"))

    def _wait(self, what: str, condition: Callable[[], bool]) -> None:
        while not condition():
            if time.monotonic() > self._until:
                log = (self._folder / "processes.log").read_text("utf-8", "replace")
                raise SystemExit(f"not within {_TIME_S:g} seconds: {what}\n{log[-2000:]}")
            time.sleep(0.2)


@contextmanager
def running(arguments: Sequence[str], environ: Mapping[str, str], log: Path) -> Iterator[None]:
    """A Python process for the time of the block."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("INDEXER_")}
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            env={**own, **environ, "XDG_CONFIG_HOME": str(log.parent), "XDG_STATE_HOME": str(log.parent)},
            stdout=output,
            stderr=output,
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def ask(port: int, token: str, target: str) -> tuple[int, dict[str, object]]:
    """Status and answer of the gateway."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", target, headers={"Authorization": f"Bearer {token}"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def vaults_of(port: int, token: str) -> list[dict[str, object]]:
    try:
        status, answer = ask(port, token, "/v1/vaults")
    except (OSError, HTTPException):
        return []
    found = answer["vaults"] if status == 200 else []
    assert isinstance(found, list)
    return found


def show(port: int, user: str, token: str) -> None:
    """Print what a user sees."""
    names = ", ".join(
        f"{one['name']} ({one['keeper']}, {one['chunks']} chunks)" for one in vaults_of(port, token)
    )
    print(f"\n{user} may read: {names}")
    for question in QUESTIONS:
        status, answer = ask(port, token, f"/v1/search?{urlencode({'q': question, 'limit': 3})}")
        hits = answer["results"] if status == 200 else []
        assert isinstance(hits, list)
        said = f"{answer.get('took_ms', '-')} ms, {answer.get('verdict', '-')}"
        print(f'  "{question}": {status}, {said}')
        for hit in hits:
            print(f"    {hit['relevance']:.2f}  {hit['vault']}/{hit['path']}: {str(hit['snippet'])[:70]}")
        notices = answer.get("notices", ())
        assert isinstance(notices, list | tuple)
        for notice in notices:
            print(f"    note: {notice}")
    status, answer = ask(port, token, "/v1/search?q=Saturn&vault=Outdoors")
    print(f"  the vault Outdoors alone: status {status}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as processes:
        Demo(Path(folder), processes).run()
    print("\nAll processes have ended.")


if __name__ == "__main__":
    main()
