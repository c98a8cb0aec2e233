"""The connection to a Milvus server: made when it is needed, errors in one line, a bound on every call."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

from vault_indexer.errors import BackendError, UnavailableError

_NO_COLLECTION = 100
"""Milvus' code for a collection or alias that is not there (`pkg/util/merr`: ErrCollectionNotFound)."""

_SHOWN_CHARS = 300

_NOT_LOADED = 101
"""Milvus' code for a collection that is there and not in memory (ErrCollectionNotLoaded)."""

_CHANNEL_OPTIONS = {"grpc.keepalive_permit_without_calls": 0}
"""No pings on an idle connection: Milvus Lite closes one that sends as many as pymilvus does by itself."""

_ROWS_AT_ONCE = 500
_BYTES_AT_ONCE = 8 << 20
"""Of one call that writes; Milvus takes 64 MB."""

_READ_AT_ONCE = 4000

Consistency = Literal["session", "bounded"]
Row = Mapping[str, Any]
"""A row of a collection: its fields by name."""


class CollectionMissingError(BackendError):
    """A collection that should be there is not: somebody dropped it, or the server lost it."""


class _NotLoadedError(BackendError):
    """A collection has to be loaded first."""


class TokenMissingError(UnavailableError):
    """The environment variable that should hold the token of the server is not set."""


class ServerSettings(Protocol):
    """What a configuration says of a server: that of a daemon and that of a gateway."""

    @property
    def uri(self) -> str: ...

    @property
    def token_env(self) -> str:
        """The environment variable that holds its token; "" where it wants none."""

    @property
    def db_name(self) -> str:
        """Its database; "" for the default one."""

    @property
    def ca_file(self) -> str:
        """The certificates that its own is checked with; "" for those of the system."""

    @property
    def cert_file(self) -> str:
        """The certificate of this program; "" where the server wants none."""

    @property
    def key_file(self) -> str: ...

    @property
    def server_name(self) -> str:
        """The name in its certificate; "" for that of the uri."""

    @property
    def replicas(self) -> int: ...

    @property
    def consistency(self) -> Consistency: ...

    @property
    def timeout_s(self) -> float:
        """How long one call may take, in seconds."""


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """What a server wants beyond a token: see ServerSettings."""

    db_name: str = ""
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    server_name: str = ""
    replicas: int = 1

    @property
    def options(self) -> dict[str, str]:
        """What pymilvus' client calls them. With a certificate of our own it wants the authorities in another
        option than without."""
        if self.cert_file:
            certificates = {
                "ca_pem_path": self.ca_file,
                "client_pem_path": self.cert_file,
                "client_key_path": self.key_file,
            }
        else:
            certificates = {"server_pem_path": self.ca_file}
        given = {"db_name": self.db_name, "server_name": self.server_name, **certificates}
        return {name: value for name, value in given.items() if value}


_ANY_SERVER = ServerAccess()


@dataclass
class _Client:
    """A client, and how many calls use it. It is closed once no call does and another one is in use."""

    client: Any
    calls: int = 0
    is_closed: bool = False


class MilvusConnection:
    """Calls the methods of pymilvus' `MilvusClient` by name.

    It connects at the first call, and again after a failed one; calls of other threads keep the client that
    they have. Any thread may call it. `timeout_s` bounds each call with its retries. `token` is never part of
    an error. Raises BackendError.
    """

    def __init__(
        self,
        uri: str,
        token: str = "",
        *,
        consistency: Consistency = "session",
        timeout_s: float = 10.0,
        access: ServerAccess = _ANY_SERVER,
    ) -> None:
        self.uri = uri
        self._access = access
        self.consistency_level = consistency.capitalize()
        self._token = token
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._client: _Client | None = None
        self._is_ended = False

    @classmethod
    def from_settings(cls, server: ServerSettings, environ: Mapping[str, str]) -> Self:
        """Nothing is connected before the first call. Raises TokenMissingError."""
        token = environ.get(server.token_env, "") if server.token_env else ""
        if server.token_env and not token:
            raise TokenMissingError(
                f"milvus.token_env = {server.token_env!r}: this environment variable is not set"
            )
        access = ServerAccess(
            server.db_name,
            server.ca_file,
            server.cert_file,
            server.key_file,
            server.server_name,
            server.replicas,
        )
        return cls(
            server.uri,
            token,
            consistency=server.consistency,
            timeout_s=server.timeout_s,
            access=access,
        )

    def call(self, operation: str, *values: Any, **named: Any) -> Any:
        """The answer of one operation of the client; its first value names the collection. One that is not
        loaded is: Milvus Lite has loaded none after a start."""
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
                code = getattr(error, "code", None)
                if code == _NOT_LOADED and operation != "load_collection":
                    raise _NotLoadedError(self._message(error)) from error
                if code == _NO_COLLECTION:
                    raise CollectionMissingError(self._message(error)) from error
                self._forget(held)
                raise BackendError(self._message(error)) from error

    def load(self, collection: str) -> None:
        """Have the server hold a collection in memory, as often as the settings say."""
        replicas = self._access.replicas
        self._once("load_collection", collection, **({"replica_number": replicas} if replicas > 1 else {}))

    def is_there(self) -> bool:
        """Whether the server answers a question that costs nothing."""
        try:
            self._once("list_collections")
        except BackendError:
            return False
        return True

    def read(self, operation: str, *values: Any, **named: Any) -> Any:
        """`call` for a search or query, at the consistency that the settings choose."""
        return self.call(operation, *values, consistency_level=self.consistency_level, **named)

    def rows(self, collection: str, expression: str, fields: Iterable[str]) -> Iterator[Row]:
        """These fields of all rows that meet an expression, at the consistency that the settings choose."""
        iterator = self.read(
            "query_iterator",
            collection,
            batch_size=_READ_AT_ONCE,
            filter=expression,
            output_fields=list(fields),
        )
        try:
            while rows := iterator.next():
                yield from rows
        finally:
            iterator.close()

    def write(self, collection: str, rows: Iterable[Row]) -> None:
        """Write rows over those of the same keys, in as many calls as their size needs."""
        for batch in _batches(rows):
            self.call("upsert", collection, data=batch)

    def end(self) -> None:
        """Close the connection for good: later calls fail at once."""
        self._is_ended = True
        self.close()

    def close(self) -> None:
        """Close the connection, and end calls under way; a later call makes a new one."""
        with self._lock:
            held, self._client = self._client, None
        self._close(held)

    @contextmanager
    def _in_use(self) -> Iterator[_Client]:
        """The client, connected, which nobody closes meanwhile but `close`."""
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
        fresh = _Client(self._connect())  # outside of the lock: the server may not answer
        with self._lock:
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
                f'{error.name} is not installed, index.backend = "milvus" needs it: '
                'pip install "vault-indexer[milvus]"'
            ) from error
        # It logs every error with a traceback; each one reaches the caller anyway.
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
        try:
            return MilvusClient(
                uri=self.uri,
                token=self._token,
                timeout=self._timeout_s,
                dedicated=True,
                grpc_options=_CHANNEL_OPTIONS,
                **self._access.options,
            )
        except OSError as error:
            raise BackendError(f"a certificate for Milvus cannot be read: {error}") from error
        except _failures() as error:
            raise BackendError(self._message(error)) from error

    def _forget(self, held: _Client) -> None:
        """Connect again with the next call: a channel of a server that was away waits long between tries."""
        with self._lock:
            if self._client is held:
                self._client = None

    def _message(self, error: Exception) -> str:
        details = getattr(error, "details", None)  # of a call that gRPC has ended
        told = details() if callable(details) else getattr(error, "message", "") or str(error)
        text = " ".join(str(told).split()) or type(error).__name__
        if self._token:
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
    """Bytes, about: of a number nothing, and of a vector four for each dimension."""
    if isinstance(value, int):
        return 0
    return len(value) if isinstance(value, str) else 4 * len(value)


def _failures() -> tuple[type[Exception], ...]:
    """What a call can raise: pymilvus' own errors, those of gRPC that it lets through (a deadline), and the
    ValueError of a channel that another thread has closed."""
    import grpc
    from pymilvus.exceptions import MilvusException

    return MilvusException, grpc.RpcError, grpc.FutureTimeoutError, ValueError
