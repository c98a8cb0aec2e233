"""Published vaults, and gateways in processes of their own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlencode

from notes_here import NotesHere
from reliability_lab import OPTIONS, in_one_process
from serve_api import Answer, answer_of
from vault_at_work import place, silent
from waiting import DEADLINE_S, wait_until

from vault_gateway.access import digest_of
from vault_gateway.milvus import MilvusConnection, MilvusPublisher, MilvusVaults
from vault_gateway.owner import PublishedVault
from vault_gateway.publication import CatalogPublisher, Publication, PublishedEpoch
from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.ports import Embedder
from vault_indexer.store import Generation, IndexDir
from vault_indexer.store.catalog import CatalogReader

NOTES: Mapping[str, Mapping[str, str]] = {
    "kitchen": {
        "Bread.md": "---\ntags: [food/dough]\n---\n# Bread\n\nKnead the dough until it is smooth.\n",
        "Soups/Lentils.md": "# Lentils\n\nRed lentils boil for twenty minutes; Saturn is no soup.\n",
    },
    "observatory": {
        "Sky/Saturn.md": "---\ntags: [planet]\n---\n# Saturn\n\nThe rings of Saturn are ice and rock.\n",
        "Sky/Long.md": "# Long\n\n"
        + "".join(f"## Night {n}\n\n{'The dome is open, dough. ' * 60}\n\n" for n in range(6)),
    },
}


@dataclass(frozen=True)
class User:
    """A user of a gateway, with the token in clear."""

    name: str
    token: str
    vaults: tuple[str, ...]
    metrics: bool = False

    @property
    def toml(self) -> str:
        return (
            f"[[users]]\nname = {json.dumps(self.name)}\ntoken_sha256 = {json.dumps(digest_of(self.token))}\n"
            f"vaults = {json.dumps([right(one) for one in self.vaults])}\n"
            f"metrics = {json.dumps(self.metrics)}\n"
        )


ANA = User("ana", "token-of-ana", ("kitchen",))
BEN = User("ben", "token-of-ben", ("*",))
OPS = User("ops", "token-of-ops", (), metrics=True)


def id_of(name: str, keeper: str = "keeper") -> str:
    """The id of a vault that `publish` publishes; one that an index makes ends in random digits."""
    return f"{keeper}-{name}-{sha256(f'{keeper}/{name}'.encode()).hexdigest()[:16]}"


def right(vault: str) -> str:
    """The right to a vault of a name, or of `keeper/name`; "*" and an id stand for themselves."""
    keeper, _, name = vault.rpartition("/")
    return vault if vault == "*" or len(vault) > 20 else id_of(name, keeper or "keeper")


@dataclass(frozen=True)
class Team:
    """A folder for vaults, and the server and prefix that they are published to."""

    folder: Path
    uri: str
    prefix: str

    @property
    def port(self) -> int:
        """Of the server."""
        return int(self.uri.rpartition(":")[2])

    def keeper(self, name: str, backend: str = "milvus") -> str:
        """The configuration of a daemon that publishes to the server."""
        return (
            f'[embedding]\nprovider = "wordllama"\n[index]\nworkers = 1\nbackend = "{backend}"\n'
            f'[milvus]\nuri = "{self.uri}"\ncollection_prefix = "{self.prefix}"\nkeeper = "{name}"\n'
        )

    @property
    def vaults(self) -> MilvusVaults:
        return MilvusVaults(MilvusConnection(self.uri), self.prefix)


def publish(
    team: Team,
    name: str,
    keeper: str = "keeper",
    *,
    provider: str = "",
    notes: Mapping[str, str] | None = None,
) -> tuple[Generation, Embedder]:
    """Index and publish a vault, with vectors of another provider if one is named. Returns its index here."""
    folder = team.folder / f"{keeper}-{name}"
    folder.mkdir()
    where = place(folder, notes or NOTES[name])
    options = {key: str(value) for key, value in OPTIONS.items()}
    if provider:
        options["embedding.provider"] = provider
    with closing(LocalSession(in_one_process(where.target(options)))) as session:
        session.open(silent, build=True)
        embedder = session.reader().searcher.embedder
        generation = IndexDir(where.index_dir).current()
        assert generation is not None
        published = PublishedVault(id_of(name, keeper), name, keeper, f"{keeper}/{name}", keeper)
        publisher = MilvusPublisher(team.vaults, published.vault, embedder.model, store_bodies=True)
        source = NotesHere(generation)
        catalog = CatalogPublisher(
            team.vaults, publisher, published, generation.number, embedder.model, source
        )
        publication = Publication(catalog, PublishedEpoch(generation))
        with CatalogReader(generation.catalog) as reader:
            wait_until(lambda: publication.step(reader), "the vault is published")
    return generation, embedder


AGENT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@dataclass
class Gateway:
    """Where a gateway answers."""

    port: int
    process: subprocess.Popen[str]
    config: Path
    said: str = ""
    """What stood on standard error, once it has ended."""

    def get(
        self,
        route: str,
        user: User | None = None,
        /,
        headers: Mapping[str, str] | None = None,
        host: str | None = None,
        **parameters: str | int,
    ) -> Answer:
        target = route + ("?" + urlencode(parameters, quote_via=quote) if parameters else "")
        return self._ask("GET", target, user, headers, host)

    def post(
        self, path: str, user: User, body: Mapping[str, object], headers: Mapping[str, str] | None = None
    ) -> Answer:
        content = headers or {"Content-Type": "application/json"}
        return self._ask("POST", path, user, content, body=json.dumps(body))

    def rpc(self, user: User, method: str, **parameters: object) -> Answer:
        """The answer to an agent."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        return self.post("/mcp", user, message, AGENT)

    def head(self, path: str, host: str) -> Answer:
        return self._ask("HEAD", path, host=host)

    def _ask(
        self,
        method: str,
        target: str,
        user: User | None = None,
        headers: Mapping[str, str] | None = None,
        host: str | None = None,
        body: str | None = None,
    ) -> Answer:
        given = {"Host": host or f"127.0.0.1:{self.port}"}
        if user is not None:
            given["Authorization"] = f"Bearer {user.token}"
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)) as connection:
            connection.request(method, target, body, {**given, **(headers or {})})
            return answer_of(connection.getresponse())

    def vaults(self, user: User, headers: Mapping[str, str] | None = None) -> list[dict[str, object]]:
        """What the gateway lists for a user."""
        answer = self.get("/v1/vaults", user, headers)
        assert answer.status == 200, answer.body
        listed = answer.json["vaults"]
        assert isinstance(listed, list)
        return listed

    def search(self, user: User, query: str, **parameters: str | int) -> Answer:
        target = "/v1/search?" + urlencode({"q": query, **parameters}, quote_via=quote)
        return self.get(target, user)

    def paths(self, user: User, query: str, **parameters: str | int) -> list[str]:
        return [str(hit["path"]) for hit in results(self.search(user, query, **parameters))]


def rows_of(team: Team, vault: str) -> int:
    """How many chunks of a vault the server has, in the collections of all models."""
    connection = team.vaults.connection
    return sum(
        connection.count(name, f"vault == {json.dumps(vault)}")
        for name in map(str, connection.call("list_collections"))
        if name.startswith(f"{team.prefix}_chunks_")
    )


def administer(config: Path | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`indexer gateway`, with the configuration of a gateway unless there is none."""
    command = [sys.executable, "-m", "vault_indexer.cli", "gateway", *arguments]
    given = ["--config", str(config)] if config else []
    return subprocess.run([*command, *given], capture_output=True, text=True, check=False)


def results(answer: Answer) -> list[dict[str, object]]:
    assert answer.status == 200, answer.body
    found = answer.json["results"]
    assert isinstance(found, list)
    return found


def notices(answer: Answer) -> str:
    assert answer.status == 200, answer.body
    return "; ".join(map(str, answer.json["notices"]))


@contextmanager
def gateway(
    team: Team,
    users: Sequence[User],
    top: str = "",
    tables: str = "",
    uri: str = "",
    server: str = "",
    milvus: str = "timeout_s = 2\n",
) -> Iterator[Gateway]:
    """A gateway in a process of its own; `top` begins its configuration, `tables` ends it, `server` and
    `milvus` are further keys of these tables."""
    config = team.folder / f"gateway-{os.urandom(4).hex()}.toml"
    config.write_text(
        f'{top}\nstates_s = 0.2\n[milvus]\nuri = "{uri or team.uri}"\ncollection_prefix = "{team.prefix}"\n'
        f'consistency = "session"\n{milvus}[server]\nport = 0\ntimeout_s = 150.0\n{server}'
        "user_concurrent = 16\nuser_rate = 10000.0\nuser_burst = 10000\n"
        + "".join(user.toml for user in users)
        + tables,
        "utf-8",
    )
    command = [sys.executable, "-m", "vault_indexer.cli", "gateway", "--config", str(config)]
    with config.with_suffix(".out").open("wb") as stdout:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=stdout, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    assert "http://127.0.0.1:" in line, line
    port = int(line.partition("http://127.0.0.1:")[2].partition(",")[0])
    one = Gateway(port, process, config)
    try:
        yield one
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        _, one.said = process.communicate(timeout=DEADLINE_S)
        assert "Traceback" not in one.said, one.said
        assert all(user.token not in one.said for user in users)
