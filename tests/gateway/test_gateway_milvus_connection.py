"""A client that others use is not closed by a call that failed."""

import threading
from typing import Any

import pytest

from vault_gateway.milvus import CollectionMissingError, MilvusConnection
from vault_indexer.errors import BackendError

pytest.importorskip("pymilvus")
from pymilvus.exceptions import MilvusException


class Rows:
    """The rows of a query on a server that fails after the first of them."""

    def __init__(self, collection: str) -> None:
        self._left: list[list[dict[str, int]]] = [[{"key": 1}]]
        self._collection = collection

    def next(self) -> list[dict[str, int]]:
        if self._left:
            return self._left.pop()
        if self._collection == "dropped":
            raise MilvusException(100, "collection not found")
        raise ValueError("Cannot invoke RPC on closed channel!")

    def close(self) -> None:
        pass


class Client:
    """A client of Milvus whose search waits until it is told to end."""

    def __init__(self) -> None:
        self.is_closed = False
        self.began, self.may_end = threading.Event(), threading.Event()

    def search(self, **_: object) -> str:
        self.began.set()
        assert self.may_end.wait(30)
        if self.is_closed:
            raise ValueError("Cannot invoke RPC on closed channel!")
        return "found"

    def query(self, **_: object) -> str:
        raise ValueError("a fault")

    def query_iterator(self, name: str, **_: object) -> Rows:
        return Rows(name)

    def list_collections(self, **_: object) -> list[str]:
        return []

    def close(self) -> None:
        self.is_closed = True


class Connection(MilvusConnection):
    """Makes the clients of this test."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1")
        self.made: list[Client] = []
        self.is_made = threading.Event()

    def _connect(self) -> Any:
        self.made.append(Client())
        self.is_made.set()
        return self.made[-1]


def test_a_call_that_fails_does_not_close_the_client_of_another() -> None:
    connection = Connection()
    found: list[str] = []
    searching = threading.Thread(target=lambda: found.append(connection.call("search")))
    searching.start()
    assert connection.is_made.wait(30)
    first = connection.made[0]
    assert first.began.wait(30)
    with pytest.raises(BackendError):
        connection.call("query")
    assert not first.is_closed
    assert connection.is_there()
    assert len(connection.made) == 2, "the next call has a new client"
    first.may_end.set()
    searching.join()
    assert [one.is_closed for one in connection.made] == [True, False], "nobody uses the first any more"
    assert found == ["found"]
    connection.close()
    assert [one.is_closed for one in connection.made] == [True, True]


@pytest.mark.parametrize(
    ("collection", "error"), [("dropped", CollectionMissingError), ("any", BackendError)]
)
def test_a_server_that_fails_between_two_batches_of_rows_is_an_error_of_ours(
    collection: str, error: type[BackendError]
) -> None:
    rows = Connection().rows(collection, "key > 0", ["key"])
    assert next(rows) == {"key": 1}
    with pytest.raises(error, match=r"^Milvus at http://127\.0\.0\.1:1: "):
        next(rows)
