"""The text of hits that is not published: not available, or read from the keepers' catalogs."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import NamedTuple, Protocol
from urllib.parse import quote, urlsplit

from vault_gateway.calls import SingleFlight
from vault_gateway.keeper import BODIES
from vault_gateway.metrics import GatewayMetrics
from vault_gateway.milvus import VaultState, place_digest
from vault_gateway.settings import GatewayKeeper
from vault_indexer.errors import ConfigError, ConfigProblem
from vault_indexer.serve.api.endpoints import VAULT, VAULTS
from vault_indexer.system import record

log = logging.getLogger("vault_indexer.gateway")

_MAX_ANSWER_BYTES = 32 << 20
_READ_BYTES = 1 << 16
_NAMES_S = 5.0
"""The time for which a keeper's list of vaults is cached. An unknown vault causes an immediate reload."""

_THREADS = 8
"""The number of threads per keeper."""

_WAITING = 32
"""The maximum number of requests to a keeper that wait for a thread; further ones get no text, at once."""

ChunkId = tuple[str, int]
"""The vault's id and the chunk's key."""


@record
class Bodies:
    """The available bodies, and notices for the user about the others."""

    known: Mapping[ChunkId, str]
    notices: tuple[str, ...] = ()


class HitPlace(NamedTuple):
    """A chunk whose body is requested: the vault's id, the chunk's key, and its place in its note."""

    vault: str
    key: int
    path: str
    start_pos: int
    end_pos: int


class BodySource(Protocol):
    def of(self, found: Sequence[HitPlace], states: Mapping[str, VaultState]) -> Bodies:
        """The bodies of hits; `states` contains the states of their vaults."""
        ...


class NoBodies:
    """Provides no bodies: only published text is available."""

    def of(self, found: Sequence[HitPlace], states: Mapping[str, VaultState]) -> Bodies:
        without = sorted({states[one.vault].name for one in found})
        notices = (f"without text, which is not published: hits of {', '.join(without)}",)
        return Bodies({}, notices if without else ())


class KeptBodies:
    """Requests bodies from all keepers concurrently, and waits at most `timeout_s` for them. Any thread may
    use it.

    A chunk that its keeper has changed since its publication has no body, because the text there is
    different.
    """

    def __init__(
        self,
        keepers: Sequence[GatewayKeeper],
        environ: Mapping[str, str],
        timeout_s: float,
        metrics: GatewayMetrics,
    ) -> None:
        """Raises ConfigError for tokens that are not in the environment."""
        missing = [keeper for keeper in keepers if not environ.get(keeper.token_env)]
        if missing:
            raise ConfigError(
                [
                    ConfigProblem("keepers.token_env", one.token_env, "is not set", f"keeper {one.name}")
                    for one in missing
                ]
            )
        self._clients = {one.name: _KeeperClient(one, environ[one.token_env], timeout_s) for one in keepers}
        self._timeout_s = timeout_s
        self._metrics = metrics

    def of(self, found: Sequence[HitPlace], states: Mapping[str, VaultState]) -> Bodies:
        asked: dict[tuple[str, str], list[HitPlace]] = {}
        for one in found:
            asked.setdefault((states[one.vault].keeper, one.vault), []).append(one)
        running = {
            self._clients[keeper].ask(own, states[vault].place): keeper
            for (keeper, vault), own in asked.items()
            if keeper in self._clients
        }
        wait(running, timeout=self._timeout_s)
        known: dict[ChunkId, str] = {}
        for future, keeper in running.items():
            known |= self._result(future, keeper)
        without = {states[one.vault].keeper for one in found if (one.vault, one.key) not in known}
        notices = tuple(
            f"without text, because the keeper {one} did not provide it: some hits" for one in sorted(without)
        )
        return Bodies(known, notices)

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    def _result(self, future: Future[dict[ChunkId, str]], keeper: str) -> dict[ChunkId, str]:
        if not future.done():
            future.cancel()
            reason = f"no answer within {self._timeout_s:g} seconds"
        else:
            try:
                return future.result()
            except (OSError, HTTPException, ValueError, KeyError, TypeError, AttributeError) as error:
                reason = str(error) or type(error).__name__
        self._metrics.keeper_failures.labels(keeper).inc()
        log.warning("keeper %s: %s", keeper, reason)
        return {}


class _KeeperClient:
    """The routes for bodies and vaults of one keeper. It follows no redirect, and the size of an answer is
    limited.

    A keeper may have several vaults. The place of a published vault identifies it: a digest of the keeper's
    name and the vault's folder. The list of vaults is cached for `_NAMES_S`. Any thread may use it. Each
    keeper has its own threads, so that a hanging keeper does not block the texts of another.
    """

    def __init__(self, keeper: GatewayKeeper, token: str, timeout_s: float) -> None:
        self._keeper = keeper.name
        self._address = urlsplit(keeper.url)
        self._token = token
        self._timeout_s = timeout_s
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix=f"bodies-{keeper.name}")
        self._free = threading.Semaphore(_THREADS + _WAITING)
        self._reading: SingleFlight[str, Mapping[str, str]] = SingleFlight()
        self._names: Mapping[str, str] = {}
        self._read_at: float | None = None

    def ask(self, found: Sequence[HitPlace], place: str) -> Future[dict[ChunkId, str]]:
        """Runs `bodies` in a thread of this keeper; fails at once if too many requests are waiting for it."""
        if not self._free.acquire(blocking=False):
            refused: Future[dict[ChunkId, str]] = Future()
            refused.set_exception(OSError("too many requests are waiting for it"))
            return refused
        asked = self._threads.submit(self.bodies, found, place)
        asked.add_done_callback(lambda _: self._free.release())
        return asked

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def bodies(self, found: Sequence[HitPlace], place: str) -> dict[ChunkId, str]:
        """The bodies of unchanged chunks of the vault at one place. Raises OSError, HTTPException, or
        ValueError and similar errors for a malformed answer, and if the keeper has no such vault."""
        keys = ",".join(str(one.key) for one in found)
        name = self._name_of(place)
        answer = json.loads(self._get(f"{BODIES.path}?keys={quote(keys)}&{VAULT.name}={quote(name)}"))
        held = {int(one["key"]): one for one in answer["bodies"]}
        return {
            (one.vault, one.key): str(held[one.key]["body"])
            for one in found
            if one.key in held and _is_same(one, held[one.key])
        }

    def _name_of(self, place: str) -> str:
        names, read_at = self._names, self._read_at
        if read_at is None or time.monotonic() - read_at > _NAMES_S or place not in names:
            names = self._reading.get("", self._read_names)
        if place not in names:
            raise ValueError("it no longer has one of its published vaults")
        return names[place]

    def _read_names(self) -> Mapping[str, str]:
        listed = json.loads(self._get(VAULTS.path))["vaults"]
        names = {place_digest(str(one["path"]), self._keeper): str(one["name"]) for one in listed}
        self._names, self._read_at = names, time.monotonic()
        return names

    def _get(self, target: str) -> bytes:
        kind = HTTPSConnection if self._address.scheme == "https" else HTTPConnection
        # The timeout of the connection is for each read, so a slow server needs a second limit.
        until = time.monotonic() + self._timeout_s
        connection = kind(self._address.hostname or "", self._address.port, timeout=self._timeout_s)
        try:
            connection.request("GET", target, headers={"Authorization": f"Bearer {self._token}"})
            response = connection.getresponse()
            if response.status != 200:
                raise ValueError(f"status {response.status}")
            content = bytearray()
            while part := response.read1(_READ_BYTES):
                content += part
                if len(content) > _MAX_ANSWER_BYTES or time.monotonic() > until:
                    raise ValueError("the answer is too long, or too slow")
            return bytes(content)
        finally:
            connection.close()


def _is_same(found: HitPlace, held: Mapping[str, object]) -> bool:
    wanted = (found.path, found.start_pos, found.end_pos)
    return wanted == (held["path"], held["start_pos"], held["end_pos"])
