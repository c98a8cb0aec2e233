"""The connection to a Milvus server: lazy, with one-line errors and a time limit on every call."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from vault_indexer.errors import BackendError, UnavailableError

if TYPE_CHECKING:
    from vault_gateway.settings import GatewayMilvus
    from vault_gateway.tables import MilvusAccess, MilvusSettings

_NO_COLLECTION = 100
"""Milvus' code for a missing collection or alias (`pkg/util/merr`: ErrCollectionNotFound)."""

_SHOWN_CHARS = 300

_NOT_LOADED = 101
"""Milvus' code for a collection that is not loaded (ErrCollectionNotLoaded)."""

_CHANNEL_OPTIONS = {"grpc.keepalive_permit_without_calls": 0}
"""No pings on an idle connection: Milvus Lite closes one with as many pings as pymilvus sends by default."""

_ROWS_AT_ONCE = 500
_BYTES_AT_ONCE = 8 << 20
"""The maximum size of one write; Milvus accepts 64 MB."""

_READ_AT_ONCE = 4000
_MAX_ROWS = 16_384
"""The largest limit that Milvus accepts."""

Consistency = Literal["session", "bounded"]
Row = Mapping[str, Any]
"""A row of a collection: its fields by name."""


class CollectionMissingError(BackendError):
    """An expected collection is missing: it was dropped, or the server lost it."""


class _NotLoadedError(BackendError):
    """A collection must be loaded first."""


class TokenMissingError(UnavailableError):
    """The environment variable for the token of the server is not set."""


def client_options(access: MilvusAccess) -> dict[str, str]:
    """The options for pymilvus' client. With a client certificate, it expects the authorities in a different
    option than without."""
    if access.cert_file:
        certificates = {
            "ca_pem_path": access.ca_file,
            "client_pem_path": access.cert_file,
            "client_key_path": access.key_file,
        }
    else:
        certificates = {"server_pem_path": access.ca_file}
    given = {"db_name": access.db_name, "server_name": access.server_name, **certificates}
    return {name: value for name, value in given.items() if value}


@dataclass
class _Client:
    """A client, and the number of calls that use it. It is closed once it has been replaced and no call uses
    it."""

    client: Any
    calls: int = 0
    is_closed: bool = False


class MilvusConnection:
    """Calls the methods of pymilvus' `MilvusClient` by name.

    It connects at the first call, and again after a failed one; concurrent calls keep their client. Any
    thread may use it. `timeout_s` limits each call including its retries. `token` is never part of an error.
    Raises BackendError.
    """

    def __init__(
        self,
        uri: str,
        token: str = "",
        *,
        consistency: Consistency = "session",
        timeout_s: float = 10.0,
        access: MilvusAccess | None = None,
    ) -> None:
        """`access` has the database, the certificates and the number of replicas."""
        self.uri = uri
        self._options = client_options(access) if access else {}
        self._replicas = access.replicas if access else 1
        self.consistency_level = consistency.capitalize()
        self._token = token
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._client: _Client | None = None
        self._is_ended = False

    @classmethod
    def from_settings(cls, server: MilvusSettings | GatewayMilvus, environ: Mapping[str, str]) -> Self:
        """Connects only at the first call. Raises TokenMissingError."""
        token = environ.get(server.token_env, "") if server.token_env else ""
        if server.token_env and not token:
            raise TokenMissingError(
                f"milvus.token_env = {server.token_env!r}: this environment variable is not set"
            )
        return cls(
            server.uri, token, consistency=server.consistency, timeout_s=server.timeout_s, access=server
        )

    def call(self, operation: str, *values: Any, **named: Any) -> Any:
        """Returns the answer of one operation of the client; its first value names the collection. Loads the
        collection if necessary, because Milvus Lite loads none at startup."""
        try:
            return self._once(operation, *values, **named)
        except _NotLoadedError:
            self.load(*values[:1])
            return self._once(operation, *values, **named)

    def _once(self, operation: str, *values: Any, **named: Any) -> Any:
        with self._in_use() as held:
            try:
                return getattr(held.client, operation)(*values, timeout=self._timeout_s, **named)
            except _failures() as error:
                if getattr(error, "code", None) == _NOT_LOADED and operation != "load_collection":
                    raise _NotLoadedError(self._message(error)) from error
                failure = self._failure(error)
                if not isinstance(failure, CollectionMissingError):
                    self._forget(held)
                raise failure from error

    def load(self, collection: str) -> None:
        """Loads a collection into the server's memory, with the configured number of replicas."""
        copies = {"replica_number": self._replicas} if self._replicas > 1 else {}
        self._once("load_collection", collection, **copies)

    def is_there(self) -> bool:
        try:
            self._once("list_collections")
        except BackendError:
            return False
        return True

    def read(self, operation: str, *values: Any, **named: Any) -> Any:
        """`call` for a search or query, at the configured consistency."""
        return self.call(operation, *values, consistency_level=self.consistency_level, **named)

    def find(
        self, collection: str, expression: str, fields: Iterable[str], *, consistency: str = ""
    ) -> list[Row]:
        """These fields of rows that match an expression, of as many as one call returns; at the configured
        consistency, unless another one is given."""
        return list(
            self.call(
                "query",
                collection,
                filter=expression,
                output_fields=list(fields),
                limit=_MAX_ROWS,
                consistency_level=consistency or self.consistency_level,
            )
        )

    def count(self, collection: str, expression: str) -> int:
        """The number of rows that match an expression, at the configured consistency."""
        found = self.read("query", collection, filter=expression, output_fields=["count(*)"])
        return int(next(iter(found))["count(*)"])

    def rows(self, collection: str, expression: str, fields: Iterable[str]) -> Iterator[Row]:
        """These fields of all rows that match an expression, at the configured consistency."""
        iterator = self.read(
            "query_iterator",
            collection,
            batch_size=_READ_AT_ONCE,
            filter=expression,
            output_fields=list(fields),
        )
        try:
            while rows := self._next(iterator):
                yield from rows
        finally:
            iterator.close()

    def _next(self, iterator: Any) -> Iterable[Row]:
        try:
            rows: Iterable[Row] = iterator.next()
        except _failures() as error:
            raise self._failure(error) from error
        return rows

    def write(self, collection: str, rows: Iterable[Row]) -> None:
        """Writes rows, replacing those with the same keys, in as many calls as their size requires."""
        for batch in _batches(rows):
            self.call("upsert", collection, data=batch)

    def end(self) -> None:
        """Closes the connection permanently: later calls fail at once."""
        self._is_ended = True
        self.close()

    def close(self) -> None:
        """Closes the connection and ends calls in progress; a later call creates a new one."""
        with self._lock:
            held, self._client = self._client, None
        self._close(held)

    @contextmanager
    def _in_use(self) -> Iterator[_Client]:
        """The connected client, which only `close` may close during the block."""
        held = self._take()
        try:
            yield held
        finally:
            with self._lock:
                held.calls -= 1
                is_unused = held.calls == 0 and self._client is not held
            if is_unused:
                self._close(held)

    def _take(self) -> _Client:
        with self._lock:
            if self._client is not None:
                self._client.calls += 1
                return self._client
        fresh = _Client(self._connect())  # outside the lock, because the server may not answer
        with self._lock:
            # Another thread may have connected meanwhile; its client is used and this one is closed.
            spare = fresh if self._client is not None else None
            held = self._client = self._client or fresh
            held.calls += 1
        self._close(spare)
        return held

    def _close(self, held: _Client | None) -> None:
        with self._lock:
            if held is None or held.is_closed:
                return
            held.is_closed = True
        held.client.close()

    def _connect(self) -> Any:
        if self._is_ended:
            raise BackendError(f"Milvus at {self.uri}: the connection was closed")
        try:
            from pymilvus import MilvusClient
        except ImportError as error:
            raise BackendError(
                f'{error.name} is not installed, but index.backend = "milvus" requires it: '
                'pip install "vault-indexer[milvus]"'
            ) from error
        # It logs every error with a traceback, although each one reaches the caller.
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
        try:
            return MilvusClient(
                uri=self.uri,
                token=self._token,
                timeout=self._timeout_s,
                dedicated=True,
                grpc_options=_CHANNEL_OPTIONS,
                **self._options,
            )
        except OSError as error:
            raise BackendError(f"a certificate for Milvus cannot be read: {error}") from error
        except _failures() as error:
            raise BackendError(self._message(error)) from error

    def _forget(self, held: _Client) -> None:
        """Makes the next call reconnect: the channel of a server that was down waits long between tries."""
        with self._lock:
            if self._client is held:
                self._client = None

    def _failure(self, error: Exception) -> BackendError:
        is_missing = getattr(error, "code", None) == _NO_COLLECTION
        return (CollectionMissingError if is_missing else BackendError)(self._message(error))

    def _message(self, error: Exception) -> str:
        details = getattr(error, "details", None)  # for a call that gRPC has ended
        told = details() if callable(details) else getattr(error, "message", "") or str(error)
        text = " ".join(str(told).split()) or type(error).__name__
        if self._token:
            # An error of the library may quote the token.
            text = text.replace(self._token, "…")
        shown = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"
        return f"Milvus at {self.uri}: {shown}"


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += sum(map(_size_of, row.values()))
        if len(batch) == _ROWS_AT_ONCE or size >= _BYTES_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _size_of(value: Any) -> int:
    """The approximate size in bytes: zero for a number, and four per dimension for a vector."""
    if isinstance(value, int):
        return 0
    return len(value) if isinstance(value, str) else 4 * len(value)


def _failures() -> tuple[type[Exception], ...]:
    """The errors that a call can raise: pymilvus' own, those of gRPC that it passes on (a deadline), and the
    ValueError of a channel that another thread has closed."""
    import grpc
    from pymilvus.exceptions import MilvusException

    return MilvusException, grpc.RpcError, grpc.FutureTimeoutError, ValueError
