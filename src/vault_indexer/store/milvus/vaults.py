"""Which vaults are published on the server, in what state, and with which token weights."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from vault_indexer.store.milvus.connection import CollectionMissingError, MilvusConnection
from vault_indexer.store.milvus.expressions import text_in
from vault_indexer.store.milvus.schema import (
    NOTHING,
    TITLE_BYTES,
    VAULT_BYTES,
    create_table,
    vaults_name,
    weights_name,
)
from vault_indexer.store.retrieval import VaultScope

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
}
_PART_BYTES = 48_000
"""Of token weights in one row: base64 makes 64,000 characters of it, and Milvus' longest text is 65,535."""

_MAX_VAULTS = 16_384


@dataclass(frozen=True, slots=True)
class VaultState:
    """What is published of one vault. The rows whose `edition` it names are active, all others are not.

    `vault` is its id, unique on the server; `name` is what people call it, and `keeper` which daemon keeps
    it. `seq` is the last commit of the catalog that was applied, of the index generation `generation`.
    `collection` is the alias of the chunks' collection, `model` the key of the embedding model, `weights` the
    digest of its token weights ("" for none): a query's vector has to be made with both. `languages` are
    those of the notes, most frequent first: a query's words are analysed for them. `chunks` counts the rows.
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

    @property
    def edition(self) -> str:
        """What marks the rows that are active."""
        return f"{self.vault}@{self.epoch}"


def place_digest(folder: str, keeper: str) -> str:
    """The end of a vault's id: a hash of the keeper's name and of the vault's folder there, as resolved."""
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

    def states(self, scope: VaultScope) -> dict[str, VaultState]:
        """The states of a scope's vaults, by id; those that are not published are left out."""
        if not scope.vaults:
            return {}
        return self._query(text_in("vault", scope.vaults))

    def all(self) -> dict[str, VaultState]:
        """The states of all vaults, by id. For who administers; users get what their scope allows."""
        return self._query('vault != ""')

    def put(self, state: VaultState) -> None:
        """Write a vault's state."""
        row = asdict(state) | {"languages": " ".join(state.languages), "nothing": NOTHING}
        self.connection.call("upsert", self._table, data=[row])

    def drop(self, vault: str) -> bool:
        """Remove all that is published of a vault: its state first, so that nobody finds it any more, then
        its chunks in the collections of all models. Whether it had a state; a second call completes one that
        was interrupted. Token weights stay, since other vaults may have the same."""
        known = self.state(vault) is not None
        of_vault = text_in("vault", [vault])
        if known:
            self.connection.call("delete", self._table, filter=of_vault)
        self.delete_chunks(of_vault)
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

    def _query(self, expression: str) -> dict[str, VaultState]:
        rows = self._rows(self._table, expression, [*_FIELDS])
        return {str(row["vault"]): _state_of(row) for row in rows}

    def _rows(self, table: str, expression: str, fields: Iterable[str]) -> list[Mapping[str, Any]]:
        try:
            found = self.connection.read(
                "query", table, filter=expression, output_fields=list(fields), limit=_MAX_VAULTS
            )
        except CollectionMissingError:
            return []
        return list(found)


def _state_of(row: Mapping[str, Any]) -> VaultState:
    values = {field: row[field] for field in _FIELDS}
    return VaultState(**values | {"languages": tuple(str(row["languages"]).split())})
