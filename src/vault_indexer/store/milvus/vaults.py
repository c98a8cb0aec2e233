"""Which vaults are published on the server, in what state, and with which token weights."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from vault_indexer.errors import BackendError
from vault_indexer.store.milvus.connection import CollectionMissingError, MilvusConnection
from vault_indexer.store.milvus.expressions import text_in, text_literal
from vault_indexer.store.milvus.schema import (
    NOTHING,
    TITLE_BYTES,
    VAULT_BYTES,
    create_table,
    vaults_name,
    weights_name,
)
from vault_indexer.store.retrieval import VaultScope
from vault_indexer.text.times import iso_time

_FIELDS = {
    "vault": VAULT_BYTES,
    "name": TITLE_BYTES,
    "keeper": TITLE_BYTES,
    "collection": 256,
    "model": 1024,
    "weights": 64,
    "languages": 1024,
    "epoch": 0,
    "seq": 0,
    "generation": 0,
    "chunks": 0,
    "place": 64,
    "owner": 64,
    "claimed_ms": 0,
    "published_ms": 0,
    "seen_ms": 0,
    "withdrawn_ms": 0,
}
_PART_BYTES = 48_000
"""Of token weights in one row: base64 makes 64,000 characters of it, and Milvus' longest text is 65,535."""

_MAX_VAULTS = 16_384


class OutdatedStateError(BackendError):
    """A state is older than the one on the server: somebody else has published the vault meanwhile."""


@dataclass(frozen=True, slots=True)
class VaultState:
    """What is published of one vault. The rows whose `edition` it names are active, all others are not.

    `vault` is its id, unique on the server; `name` is what people call it, and `keeper` which daemon keeps
    it. `seq` is the last commit of the catalog that was applied, of the index generation `generation`.
    `collection` is the alias of the chunks' collection, `model` the key of the embedding model, `weights` the
    digest of its token weights ("" for none): a query's vector has to be made with both. `languages` are
    those of the notes, most frequent first: a query's words are analysed for them. `chunks` counts the rows.

    `place` is the digest of the keeper's name and the vault's folder, `owner` the SHA-256 of the key that the
    index of the vault keeps: only that index may write the state. Times are milliseconds since 1970, by the
    keeper's clock: `claimed_ms` when this index published first, `published_ms` the last change that was
    applied, `seen_ms` when the keeper last said that it is there. `withdrawn_ms` is not 0 in a tombstone: the
    vault was unpublished then, and nobody finds it.
    """

    vault: str
    name: str
    keeper: str
    collection: str
    model: str
    weights: str
    languages: tuple[str, ...]
    epoch: int
    seq: int
    generation: int
    chunks: int
    place: str = ""
    owner: str = ""
    claimed_ms: int = 0
    published_ms: int = 0
    seen_ms: int = 0
    withdrawn_ms: int = 0

    @property
    def edition(self) -> str:
        """What marks the rows that are active."""
        return f"{self.vault}@{self.epoch}"

    @property
    def published_at(self) -> str:
        """When its newest state was published; ISO 8601, UTC."""
        return iso_time(self.published_ms * 1_000_000)

    @property
    def seen_at(self) -> str:
        """When its keeper last said that it is there; ISO 8601, UTC."""
        return iso_time(self.seen_ms * 1_000_000)


_PUBLISHED = "withdrawn_ms == 0"


def place_digest(folder: str, keeper: str) -> str:
    """A hash of the keeper's name and of the vault's folder there, as resolved."""
    return hashlib.sha256(f"{keeper}\0{folder}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


class MilvusVaults:
    """The vaults of one installation (`prefix`) on the server. Any thread may call it. Raises
    BackendError."""

    def __init__(self, connection: MilvusConnection, prefix: str) -> None:
        self.connection = connection
        self.prefix = prefix
        self._table = vaults_name(prefix)
        self._weights = weights_name(prefix)

    def create(self) -> None:
        """The collections, unless they are there."""
        create_table(self.connection, self._table, _FIELDS)
        create_table(self.connection, self._weights, {"part": 128, "data": 65_535})

    def state(self, vault: str) -> VaultState | None:
        """One vault's state; None if it is not published."""
        return self.states(VaultScope((vault,))).get(vault)

    def records(self, vault: str, place: str) -> list[VaultState]:
        """The states of the vault, and of others of the same place, tombstones too, as they are now whatever
        the consistency that is configured. For who publishes."""
        expression = f"vault == {text_literal(vault)} or place == {text_literal(place)}"
        return list(self._query(expression, "Strong").values())

    def states(self, scope: VaultScope) -> dict[str, VaultState]:
        """The states of a scope's vaults, by id; those that are not published are left out."""
        if not scope.vaults:
            return {}
        return self._query(f"{text_in('vault', scope.vaults)} and {_PUBLISHED}")

    def all(self) -> dict[str, VaultState]:
        """The states of all vaults, by id. For who administers; users get what their scope allows."""
        return self._query(_PUBLISHED)

    def put(self, state: VaultState) -> None:
        """Write a vault's state. Raises OutdatedStateError where the server has one of a later epoch, or a
        later one of this epoch, and where the vault was unpublished or has another owner meanwhile."""
        for now in self.records(state.vault, state.place):
            if now.vault == state.vault and (
                (now.epoch, now.seq) > (state.epoch, state.seq)
                or (now.owner, now.withdrawn_ms) != (state.owner, state.withdrawn_ms)
            ):
                raise OutdatedStateError(
                    f"{state.keeper}/{state.name} was published by somebody else meanwhile"
                )
        self.overwrite(state)

    def overwrite(self, state: VaultState) -> None:
        """Write a vault's state, whatever is there."""
        row = asdict(state) | {"languages": " ".join(state.languages), "nothing": NOTHING}
        self.connection.call("upsert", self._table, data=[row])

    def drop(self, vault: str, now_ms: int) -> VaultState | None:
        """Remove all that is published of a vault: its state becomes a tombstone first, so that nobody finds
        it any more, then its chunks go from the collections of all models. The state it had; None if it was
        not published. A second call completes one that was interrupted. Token weights stay, since other
        vaults may have the same."""
        known = self.state(vault)
        if known is not None:
            self.overwrite(replace(known, chunks=0, withdrawn_ms=now_ms))
        self.delete_chunks(text_in("vault", [vault]))
        return known

    def delete_chunks(self, expression: str) -> None:
        """Delete the chunks that meet an expression from the collections of all models."""
        for name in self.connection.call("list_collections"):
            if str(name).startswith(f"{self.prefix}_chunks_"):
                self.connection.call("delete", name, filter=expression)

    def put_weights(self, data: bytes) -> str:
        """Keep token weights, unless they are there. Returns their digest."""
        digest = hashlib.sha256(data).hexdigest()
        if self.weights(digest) != data:
            parts = [data[at : at + _PART_BYTES] for at in range(0, len(data), _PART_BYTES)]
            rows = [
                {
                    "part": f"{digest}:{number:04d}:{len(parts)}",
                    "data": base64.b64encode(part).decode(),
                    "nothing": NOTHING,
                }
                for number, part in enumerate(parts)
            ]
            for row in rows:
                self.connection.call("upsert", self._weights, data=[row])
        return digest

    def weights(self, digest: str) -> bytes | None:
        """The token weights of a digest; None where they are not (all) there."""
        low, high = f"{digest}:", f"{digest};"  # ";" follows ":"
        expression = f'part > "{low}" and part < "{high}"' if digest.isalnum() else ""
        rows = self._rows(self._weights, expression, ["part", "data"]) if expression else []
        ordered = sorted(rows, key=lambda row: str(row["part"]))
        found = b"".join(base64.b64decode(row["data"]) for row in ordered)
        return found if found and hashlib.sha256(found).hexdigest() == digest else None

    def _query(self, expression: str, consistency: str = "") -> dict[str, VaultState]:
        rows = self._rows(self._table, expression, [*_FIELDS], consistency)
        return {str(row["vault"]): _state_of(row) for row in rows}

    def _rows(
        self, table: str, expression: str, fields: Iterable[str], consistency: str = ""
    ) -> list[Mapping[str, Any]]:
        try:
            found = self.connection.call(
                "query",
                table,
                filter=expression,
                output_fields=list(fields),
                limit=_MAX_VAULTS,
                consistency_level=consistency or self.connection.consistency_level,
            )
        except CollectionMissingError:
            return []
        return list(found)


def _state_of(row: Mapping[str, Any]) -> VaultState:
    values = {field: row[field] for field in _FIELDS}
    return VaultState(**values | {"languages": tuple(str(row["languages"]).split())})
