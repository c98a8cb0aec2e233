"""What a publication asks of the server while nothing changes, and when it counts the rows."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from vault_gateway.milvus import CollectionMissingError, VaultState
from vault_gateway.publication import Change, Publication, PublishedEpoch
from vault_indexer.store import Generation

STATE = VaultState("v-00", "v", "k", "c", "m", "", ("en",), epoch=1, seq=7, generation=1, chunks=3)


def mark_in(folder: Path) -> PublishedEpoch:
    return PublishedEpoch(cast("Generation", SimpleNamespace(folder=folder)))


class Server:
    """What a publication asks of a CatalogPublisher, and how often."""

    def __init__(self, folder: Path) -> None:
        self.state = STATE
        self.seq = 7
        self.rows = 3
        self.is_gone = False
        self.goes_meanwhile = False
        self.asked: list[str] = []
        self.sweeps = 0
        self.mark = mark_in(folder)
        self.mark.write(1)
        self.publication = Publication(cast("Any", self), self.mark)

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
        self.state = replace(self.state, epoch=self.state.epoch + 1, seq=self.seq)
        return Change(self.state)

    def show_presence(self, state: VaultState) -> Change:
        self.state = replace(state, seen_ms=state.seen_ms + 60_000)
        return Change(self.state)

    def shows(self, _change: Change) -> bool:
        return True

    def sweep(self, _state: VaultState) -> None:
        self.sweeps += 1


def test_rows_are_counted_once_and_then_a_few_are_looked_up(tmp_path: Path) -> None:
    server = Server(tmp_path)
    assert server.minutes(5) == ["count", "look", "look", "look", "look"]
    server.seq = 8
    assert server.minutes(2) == ["look", "follow", "look"]
    assert server.state.seen_ms == 6 * 60_000
    server.publication.check()
    server.rows = 2
    assert server.minutes(1) == ["count", "mend"]
    assert server.sweeps == 2, "what was begun is not known"


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        ({"state": replace(STATE, seq=6, chunks=2), "rows": 2}, ["mend", "look"]),  # a backup was restored
        ({"state": replace(STATE, epoch=2)}, ["mend", "look"]),
        ({"state": replace(STATE, seq=6)}, ["mend", "look"]),
        ({"state": replace(STATE, chunks=4)}, ["mend", "look"]),
        ({"state": replace(STATE, seen_ms=9, name="other")}, ["look", "look"]),
        ({"rows": 0}, ["look", "mend", "look"]),
        ({"is_gone": True}, ["look", "publish", "look"]),
        ({"seq": 8, "goes_meanwhile": True}, ["look", "follow", "publish", "look"]),
        ({"seq": 6}, ["publish", "look"]),  # the server is ahead of the catalog
    ],
)
def test_rows_are_compared_or_written_again_where_the_server_has_others(
    tmp_path: Path, changes: dict[str, Any], asked: list[str]
) -> None:
    server = Server(tmp_path)
    server.minutes(1)
    vars(server).update(changes)
    assert server.minutes(2) == asked
    if "publish" in asked:
        assert (server.mark.read(), server.sweeps) == (server.state.epoch, 2)


@pytest.mark.parametrize("text", ["", "x", "1 2", "\xff"])
def test_a_damaged_epoch_is_none(tmp_path: Path, text: str) -> None:
    mark = mark_in(tmp_path)
    assert mark.read() == 0
    mark.write(7)
    assert mark.read() == 7
    (tmp_path / "published").write_text(text, "latin-1")
    assert mark.read() == 0
