"""What a publication asks of the server while nothing changes, and when it counts the rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from vault_indexer.index.publishing import Change, Publication, PublishedEpoch
from vault_indexer.store import Generation
from vault_indexer.store.milvus import CollectionMissingError, VaultState

STATE = VaultState("v-00", "v", "k", "c", "m", "", ("en",), epoch=1, seq=7, generation=1, chunks=3)


class Server:
    """What a publication asks of a CatalogPublisher, and how often."""

    def __init__(self, folder: Path) -> None:
        self.state = STATE
        self.rows = 3
        self.is_gone = False
        self.goes_meanwhile = False
        self.asked: list[str] = []
        mark = PublishedEpoch(cast("Generation", SimpleNamespace(folder=folder)))
        mark.write(1)
        self.publication = Publication(cast("Any", self), mark)
        self.seq = 7

    def minutes(self, number: int) -> list[str]:
        """What is asked in so many minutes."""
        self.asked.clear()
        for _ in range(number):
            self.publication.look()
            assert self.publication.step(cast("Any", SimpleNamespace(seq=self.seq)))
        return self.asked

    def applied(self, _epoch: int) -> VaultState:
        return self.state

    def is_whole(self, state: VaultState) -> bool:
        self.asked.append("count")
        return self.rows == state.chunks

    def has_newest(self, _catalog: object, _state: VaultState) -> bool:
        self.asked.append("look")
        if self.is_gone:
            raise CollectionMissingError("gone")
        return self.rows > 0

    def follow(self, _catalog: object, state: VaultState, *, whole: bool) -> Change:
        self.asked.append("follow" if whole else "mend")
        if self.goes_meanwhile:
            raise CollectionMissingError("gone")
        self.rows = 3
        self.state = replace(state, seq=self.seq)
        return Change(self.state)

    def publish_all(self, _catalog: object) -> Change:
        self.asked.append("publish")
        self.is_gone, self.goes_meanwhile, self.rows = False, False, 3
        self.state = replace(self.state, epoch=self.state.epoch + 1)
        return Change(self.state)

    def show_presence(self, state: VaultState) -> Change:
        self.state = replace(state, seen_ms=state.seen_ms + 60_000)
        return Change(self.state)

    def shows(self, _change: Change) -> bool:
        return True

    def sweep(self, _state: VaultState) -> None:
        return


def test_rows_are_counted_once_and_then_a_few_are_looked_up(tmp_path: Path) -> None:
    server = Server(tmp_path)
    assert server.minutes(5) == ["count", "look", "look", "look", "look"]
    server.seq = 8
    assert server.minutes(2) == ["look", "follow", "look"]
    assert server.state.seen_ms == 6 * 60_000


def test_rows_are_counted_when_the_server_has_another_state(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.minutes(2)
    server.state, server.rows = replace(server.state, seq=6, chunks=2), 2  # a backup was restored
    assert server.minutes(1) == ["count", "follow"]


def test_rows_that_are_gone_are_written_again(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.minutes(1)
    server.rows = 0
    assert server.minutes(1) == ["look", "mend"]
    server.is_gone = True
    assert server.minutes(2) == ["look", "publish", "look"]
    server.publication.check()
    server.rows = 2
    assert server.minutes(1) == ["count", "mend"]


def test_a_collection_that_goes_while_changes_are_written_is_made_again(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.minutes(1)
    server.seq, server.goes_meanwhile = 8, True
    assert server.minutes(1) == ["look", "follow", "publish"]
