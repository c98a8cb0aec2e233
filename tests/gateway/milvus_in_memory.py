"""A Milvus server in this process: it keeps rows and evaluates filters; a search finds all that pass one.

`tests/gateway/test_gateway_milvus_vaults.py` holds it to what a real server does.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from vault_gateway.milvus import CollectionMissingError, MilvusConnection
from vault_gateway.milvus.connection import Row
from vault_indexer.errors import BackendError

_KEYS = ("pk", "part", "vault")
"""The first of these that a row has is its primary key."""


class MilvusInMemory:
    """The collections of a server by name, each with its rows by primary key."""

    def __init__(self) -> None:
        self.collections: dict[str, dict[str, Row]] = {}
        self.fault: Callable[[str], str] = lambda _operation: ""
        """Why the server refuses an operation."""
        self.calls: list[str] = []
        self.is_closed = False
        self._shown: dict[str, dict[str, Row]] | None = None

    def connect(self) -> MilvusConnection:
        return _Connection(self)

    def rows(self, kind: str) -> list[Row]:
        """All rows of the collections whose names hold `kind`."""
        return [row for name, rows in self.collections.items() if kind in name for row in rows.values()]

    def hold_back(self) -> None:
        """Until `catch_up` answer with what is there now, as a server whose log is ahead."""
        self._shown = copy.deepcopy(self.collections)

    def catch_up(self) -> None:
        self._shown = None

    def lose(self, kind: str) -> None:
        """Collections go, as an operator drops them."""
        self.collections = {name: rows for name, rows in self.collections.items() if kind not in name}

    def answer(self, operation: str, *values: Any, **named: Any) -> Any:
        self.calls.append(operation)
        if reason := self.fault(operation):
            raise BackendError(f"Milvus: {reason}")
        return getattr(self, f"_{operation}")(*values, **named)

    def _list_collections(self) -> list[str]:
        return list(self.collections)

    def _has_collection(self, name: str) -> bool:
        """Another daemon has just made it: what makes one needs the client's library."""
        self.collections.setdefault(name, {})
        return True

    def _flush(self, name: str) -> None:
        self._held(name)

    def _upsert(self, name: str, data: Sequence[Row]) -> None:
        held = self._held(name)
        for row in data:
            held[next(str(row[key]) for key in _KEYS if key in row)] = dict(row)

    def _delete(self, name: str, filter: str) -> None:
        held = self._held(name)
        for key in [key for key, row in held.items() if _meets(row, filter)]:
            del held[key]

    def _query(
        self,
        name: str,
        filter: str,
        output_fields: Sequence[str],
        limit: int | None = None,
        consistency_level: str = "Strong",
    ) -> list[Row]:
        self._held(name)
        shown = self.collections if consistency_level == "Strong" else self._shown or self.collections
        found = [row for row in shown.get(name, {}).values() if _meets(row, filter)]
        if output_fields == ["count(*)"]:
            return [{"count(*)": len(found)}]
        return [{field: row[field] for field in output_fields} for row in islice(found, limit)]

    def _search(self, name: str, filter: str, limit: int, output_fields: Sequence[str], **_: Any) -> Any:
        found = self._query(name, filter, output_fields, limit)
        return [[{"entity": row, "distance": 1.0} for row in found]]

    def _query_iterator(self, name: str, batch_size: int, **named: Any) -> _Batches:
        return _Batches(self._query(name, **named), batch_size)

    def _held(self, name: str) -> dict[str, Row]:
        if name not in self.collections:
            raise CollectionMissingError(f"Milvus: no collection {name}")
        return self.collections[name]


class _Batches:
    """What a query gives that is read in parts."""

    def __init__(self, rows: Sequence[Row], size: int) -> None:
        self._parts: Iterator[Sequence[Row]] = (rows[at : at + size] for at in range(0, len(rows), size))

    def next(self) -> Sequence[Row]:
        return next(self._parts, [])

    def close(self) -> None:
        self._parts = iter(())


class _Connection(MilvusConnection):
    """A connection to such a server."""

    def __init__(self, server: MilvusInMemory) -> None:
        super().__init__("memory://")
        self._server = server

    def call(self, operation: str, *values: Any, **named: Any) -> Any:
        return self._server.answer(operation, *values, **named)

    def close(self) -> None:
        self._server.is_closed = True


def _meets(row: Row, expression: str) -> bool:
    """Milvus' expressions, as far as they are used here, mean the same in Python."""
    return bool(eval(expression, {"__builtins__": {}, "true": True}, dict(row)))
