"""The published vaults on the server: their states, notes, weights and statistics."""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace

from vault_gateway.milvus.connection import CollectionMissingError, MilvusConnection, Row
from vault_gateway.milvus.retrieval import VaultScope, all_of, text_in, text_literal
from vault_gateway.milvus.schema import NOTHING, TITLE_BYTES, VAULT_BYTES, create_table, table_name
from vault_indexer.errors import BackendError
from vault_indexer.system import batches, record
from vault_indexer.text.phrases import iso_time

_PART_BYTES = 48_000
"""The size of a part of a blob or a note in one row: base64 makes 64,000 characters of it, and Milvus'
longest text is 65,535."""

_NOTE_FIELDS = {
    "part": VAULT_BYTES + 96,
    "vault": VAULT_BYTES,
    "edition": VAULT_BYTES + 32,
    "number": 0,
    "data": 65_535,
}

_NOTES_AT_ONCE = 200
_DELETED_AT_ONCE = 50


_RANDOM_BITS = 40
"""The part of an epoch that is random; 23 bits remain for the count."""


def next_epoch(before: int) -> int:
    """An epoch that follows another one (0: none), and that no publication has had."""
    return ((before >> _RANDOM_BITS) + 1) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)


class OutdatedStateError(BackendError):
    """The server has another state than the one to be replaced: another process has published the vault
    meanwhile, or the server was restored or emptied."""


@record
class VaultState:
    """The published state of one vault. The rows of its `edition` are active, all others are not.

    `vault` is its id, unique on the server; `name` is its display name, and `keeper` the daemon that has it.
    `seq` is the last applied commit of the catalog, of the index generation `generation`. `collection` is the
    alias of the chunks' collection, `model` the key of the embedding model, `weights` the digest of its token
    weights ("" for none): a query's vector must be computed with both. `languages` are those of the notes,
    most frequent first: a query's words are analysed for them. `chunks` counts the rows, and `notes` their
    notes; `statistics` is the digest of the statistics of all of them.

    `epoch` is the identity of an edition, which is never used twice: a count with random bits below it (see
    `next_epoch`), because a server that was restored or emptied gets the same counts again. A smaller epoch,
    without random bits, comes from an earlier version; it remains until the vault is published anew.

    `place` is the digest of the keeper's name and the vault's folder, `owner` the SHA-256 of the secret key
    of the vault's index: only that index may write the state. Times are milliseconds since 1970, by the
    keeper's clock: `claimed_ms` is the first publication by this index, `published_ms` the last applied
    change, `seen_ms` the last report of the keeper. `withdrawn_ms` is not 0 in a tombstone: the vault was
    unpublished at that time and cannot be found.
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
    notes: int = 0
    statistics: str = ""
    place: str = ""
    owner: str = ""
    claimed_ms: int = 0
    published_ms: int = 0
    seen_ms: int = 0
    withdrawn_ms: int = 0

    @property
    def full_name(self) -> str:
        """The display name `keeper/name`. Two folders of a keeper may have the same name."""
        return f"{self.keeper}/{self.name}"

    @property
    def edition(self) -> str:
        return f"{self.vault}@{self.epoch}"

    @property
    def version(self) -> tuple[object, ...]:
        """The values that change with the rows or the ownership, in contrast to the report of a keeper."""
        return self.epoch, self.seq, self.owner, self.withdrawn_ms

    @property
    def published_at(self) -> str:
        """The time of the newest published state; ISO 8601, UTC."""
        return iso_time(self.published_ms * 1_000_000)

    @property
    def seen_at(self) -> str:
        """The time of the keeper's last report; ISO 8601, UTC."""
        return iso_time(self.seen_ms * 1_000_000)


_TEXT_BYTES = {
    "vault": VAULT_BYTES,
    "name": TITLE_BYTES,
    "keeper": TITLE_BYTES,
    "collection": 256,
    "model": 1024,
    "languages": 1024,
    **dict.fromkeys(("weights", "statistics", "place", "owner"), 64),
}
_FIELDS = {field.name: _TEXT_BYTES.get(field.name, 0) for field in fields(VaultState)}

_PUBLISHED = "withdrawn_ms == 0"


def require_version(now: VaultState | None, before: VaultState | None) -> None:
    """Raises OutdatedStateError if the state on the server, `now`, is not the one to be replaced."""
    named = now or before
    if named and (now and now.version) != (before and before.version):
        raise OutdatedStateError(
            f"{named.full_name} has been published by another process, or Milvus was restored"
        )


def place_digest(folder: str, keeper: str) -> str:
    """A hash of the keeper's name and of the vault's folder there, as resolved."""
    return hashlib.sha256(f"{keeper}\0{folder}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


class MilvusVaults:
    """The vaults of one installation (`prefix`) on the server. Any thread may use it. Raises BackendError."""

    def __init__(self, connection: MilvusConnection, prefix: str) -> None:
        self.connection = connection
        self.prefix = prefix
        self._table = table_name(prefix, "vaults")
        self._blobs = table_name(prefix, "blobs")
        self._notes = table_name(prefix, "notes")

    def create(self) -> None:
        create_table(self.connection, self._table, _FIELDS)
        create_table(self.connection, self._blobs, {"part": 128, "data": 65_535})
        create_table(self.connection, self._notes, _NOTE_FIELDS)

    def state(self, vault: str) -> VaultState | None:
        return self.states(VaultScope((vault,))).get(vault)

    def records(self, vault: str, place: str) -> list[VaultState]:
        """The current states of the vault and of others with the same place, including tombstones, regardless
        of the configured consistency. For publishers."""
        expression = f"vault == {text_literal(vault)} or place == {text_literal(place)}"
        return list(self._query(expression, "Strong").values())

    def states(self, scope: VaultScope, consistency: str = "") -> dict[str, VaultState]:
        """The states of a scope's vaults, by id; unpublished vaults are omitted."""
        if not scope.vaults:
            return {}
        return self._query(f"{text_in('vault', scope.vaults)} and {_PUBLISHED}", consistency)

    def all(self, consistency: str = "") -> dict[str, VaultState]:
        """The states of all vaults, by id. For administration; users get only those of their scope."""
        return self._query(_PUBLISHED, consistency)

    def put(self, state: VaultState, before: VaultState | None) -> None:
        """Replaces a vault's state `before` (None: it was never published), and deletes the statistics of all
        earlier ones. Raises OutdatedStateError if the server has another state."""
        now = self._record(state.vault)
        require_version(now, before)
        self.overwrite(state)
        if now is not None and now.statistics != state.statistics:
            self.drop_statistics(now, state.statistics)

    def overwrite(self, state: VaultState) -> None:
        row = asdict(state) | {"languages": " ".join(state.languages), "nothing": NOTHING}
        self.connection.write(self._table, [row])

    def drop(self, vault: str, now_ms: int) -> VaultState | None:
        """Removes everything published of a vault. First its state becomes a tombstone, so that it cannot be
        found any more, then its notes and statistics are deleted, and its chunks from the collections of all
        models. Returns the previous state, or None if it was not published. A second call completes an
        interrupted one. Token weights remain, since other vaults may have the same."""
        known = self._record(vault)
        was_published = known is not None and not known.withdrawn_ms
        if known is not None and was_published:
            self.overwrite(replace(known, chunks=0, notes=0, withdrawn_ms=now_ms))
        self.delete_rows(text_in("vault", [vault]))
        if known is not None:
            self.drop_statistics(known)
        return known if was_published else None

    def delete_rows(self, expression: str) -> None:
        """Deletes the notes that match an expression, and such chunks from the collections of all models."""
        for name in self.connection.call("list_collections"):
            if str(name).startswith(f"{self.prefix}_chunks_") or str(name) == self._notes:
                self.connection.call("delete", name, filter=expression)

    def put_notes(self, state: VaultState, notes: Iterable[tuple[int, bytes]]) -> None:
        """Writes notes (id, bytes) of the edition that the state names."""
        of = {"vault": state.vault, "edition": state.edition, "nothing": NOTHING}
        rows = (
            {**of, "part": part, "number": number, "data": data}
            for note_id, packed in notes
            for number, (part, data) in enumerate(_parts(f"{state.edition}:{note_id}", packed))
        )
        self.connection.write(self._notes, rows)

    def delete_notes(self, state: VaultState, note_ids: Iterable[int]) -> None:
        for batch in batches(sorted(note_ids), _DELETED_AT_ONCE):
            parts = " or ".join(f"({_parts_of(f'{state.edition}:{note_id}')})" for note_id in batch)
            expression = all_of([text_in("edition", [state.edition]), parts])
            self.connection.call("delete", self._notes, filter=expression)

    def notes(self, state: VaultState, note_ids: Iterable[int]) -> dict[int, bytes]:
        """The notes with these ids, as written, without incomplete ones. Raises CollectionMissingError."""
        found: dict[int, bytes] = {}
        for batch in batches(sorted(set(note_ids)), _NOTES_AT_ONCE):
            found |= self._whole_notes(state, batch)
        return found

    def note_ids(self, state: VaultState) -> set[int]:
        rows = self.connection.rows(self._notes, text_in("edition", [state.edition]), ["part"])
        return {_note_of(str(row["part"])) for row in rows}

    def has(self, state: VaultState, note_ids: Iterable[int]) -> bool:
        """Whether the server returns these notes and the data of the whole vault, looked up by their first
        parts."""
        notes = [_part(f"{state.edition}:{note_id}") for note_id in note_ids]
        blobs = [_part(digest) for digest in (state.statistics, state.weights) if digest]
        return all(
            len(self._rows(table, text_in("part", parts), ["part"])) == len(parts)
            for table, parts in ((self._notes, notes), (self._blobs, blobs))
        )

    def count_notes(self, state: VaultState) -> int:
        """The number of notes that the server returns, by their first parts."""
        first = all_of([text_in("edition", [state.edition]), "number == 0"])
        return self.connection.count(self._notes, first)

    def _whole_notes(self, state: VaultState, note_ids: Sequence[int]) -> dict[int, bytes]:
        first = [_part(f"{state.edition}:{note_id}") for note_id in note_ids]
        data = _texts(self.connection.find(self._notes, text_in("part", first), ["part", "data"]))
        more = [
            _part(f"{state.edition}:{_note_of(part)}", number)
            for part, text in data.items()
            for number in range(1, _count_of(text))
        ]
        for batch in batches(more, _NOTES_AT_ONCE):
            data |= _texts(self._rows(self._notes, text_in("part", batch), ["part", "data"]))
        return {
            note_id: whole for note_id in note_ids if (whole := _joined(f"{state.edition}:{note_id}", data))
        }

    def put_statistics(self, vault: str, data: bytes) -> str:
        """Stores the statistics of a vault. Returns their digest."""
        # This row is the first, so that they are found even if no state ever names them.
        part = f"{_statistics_of(vault)}:{hashlib.sha256(data).hexdigest()}"
        self.connection.write(self._blobs, [{"part": part, "data": "", "nothing": NOTHING}])
        return self.put_blob(data)

    def drop_statistics(self, state: VaultState, kept: str = "") -> None:
        """Deletes all statistics of the vault, those that the state names included, except `kept`."""
        name = _statistics_of(state.vault)
        rows = self._rows(self._blobs, _parts_of(name), ["part"])
        stored = {str(row["part"]).partition(":")[2] for row in rows}
        for digest in sorted({state.statistics, *stored} - {kept, ""}):
            self.connection.call("delete", self._blobs, filter=_parts_of(digest))
            self.connection.call("delete", self._blobs, filter=text_in("part", [f"{name}:{digest}"]))

    def put_blob(self, data: bytes) -> str:
        """Stores token weights or statistics, unless they exist. Returns their digest."""
        digest = hashlib.sha256(data).hexdigest()
        if self.blob(digest) != data:
            parts = _parts(digest, data)
            rows = ({"part": part, "data": text, "nothing": NOTHING} for part, text in parts)
            self.connection.write(self._blobs, rows)
        return digest

    def blob(self, digest: str) -> bytes | None:
        """The token weights or statistics with a digest; None if they are missing or incomplete."""
        rows = self._rows(self._blobs, _parts_of(digest), ["part", "data"]) if digest.isalnum() else []
        found = _joined(digest, _texts(rows))
        return found if found and hashlib.sha256(found).hexdigest() == digest else None

    def _record(self, vault: str) -> VaultState | None:
        """The current state or tombstone of one vault. None if it was never published."""
        return self._query(text_in("vault", [vault]), "Strong").get(vault)

    def _query(self, expression: str, consistency: str) -> dict[str, VaultState]:
        rows = self._rows(self._table, expression, [*_FIELDS], consistency)
        return {str(row["vault"]): _state_of(row) for row in rows}

    def _rows(self, table: str, expression: str, fields: Iterable[str], consistency: str = "") -> list[Row]:
        try:
            return self.connection.find(table, expression, fields, consistency=consistency)
        except CollectionMissingError:
            return []


def _statistics_of(vault: str) -> str:
    return hashlib.sha256(f"statistics of {vault}".encode()).hexdigest()[:32]


def _part(name: str, number: int = 0) -> str:
    return f"{name}:{number:04d}"


def _texts(rows: Iterable[Row]) -> dict[str, str]:
    return {str(row["part"]): str(row["data"]) for row in rows}


def _parts(name: str, data: bytes) -> Iterator[tuple[str, str]]:
    """The rows for the bytes: their keys, and the text of each, which includes the number of rows."""
    pieces = [data[at : at + _PART_BYTES] for at in range(0, len(data), _PART_BYTES)] or [b""]
    for number, piece in enumerate(pieces):
        yield _part(name, number), f"{len(pieces)}:{base64.b64encode(piece).decode()}"


def _parts_of(name: str) -> str:
    """A condition for the rows of one name; ";" follows ":"."""
    return f"part > {text_literal(name + ':')} and part < {text_literal(name + ';')}"


def _count_of(text: str) -> int:
    count = text.partition(":")[0]
    return int(count) if count.isdecimal() else 0


def _note_of(part: str) -> int:
    return int(part.split(":")[-2])


def _joined(name: str, rows: Mapping[str, str]) -> bytes | None:
    """The bytes of a name; None if a part is missing or invalid."""
    first = rows.get(_part(name))
    texts = [] if first is None else [rows.get(_part(name, number)) for number in range(_count_of(first))]
    if not texts or None in texts or len({_count_of(text) for text in texts if text}) != 1:
        return None
    try:
        return b"".join(base64.b64decode(text.partition(":")[2]) for text in texts if text)
    except binascii.Error:
        return None


def _state_of(row: Row) -> VaultState:
    values = {field: row[field] for field in _FIELDS}
    return VaultState(**values | {"languages": tuple(str(row["languages"]).split())})
