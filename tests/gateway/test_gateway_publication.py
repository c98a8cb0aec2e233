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


class Server:
    """What a publication asks of a CatalogPublisher, and how often."""

    def __init__(self, folder: Path) -> None:
        self.state = STATE
        self.rows = 3
        self.is_gone = False
        self.goes_meanwhile = False
        self.asked: list[str] = []
        self.is_slow = False
        self.sweeps = 0
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
        return not self.is_slow

    def sweep(self, _state: VaultState) -> None:
        self.sweeps += 1

    def rest(self) -> None:
        self.asked.append("rest")

    def close(self) -> None:
        self.asked.append("close")

    def step(self) -> bool:
        self.asked.clear()
        return self.publication.step(cast("Any", SimpleNamespace(seq=self.seq)))


def test_rows_are_counted_once_and_then_a_few_are_looked_up(tmp_path: Path) -> None:
    server = Server(tmp_path)
    assert server.minutes(5) == ["count", "look", "look", "look", "look"]
    server.seq = 8
    assert server.minutes(2) == ["look", "follow", "look"]
    assert server.state.seen_ms == 6 * 60_000


def test_rows_are_compared_when_the_server_has_another_state(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.minutes(2)
    server.state, server.rows = replace(server.state, seq=6, chunks=2), 2  # a backup was restored
    assert server.minutes(1) == ["mend"]


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


def test_a_change_counts_once_the_server_shows_it(tmp_path: Path) -> None:
    server = Server(tmp_path)
    publication = server.publication
    assert publication.applied_seq == -1
    server.is_slow = True
    assert not server.step()
    assert (server.asked, publication.applied_seq, server.sweeps) == (["count"], -1, 0)
    assert not server.step()
    assert server.asked == [], "it is only looked at again"
    server.is_slow = False
    assert server.step()
    assert (publication.applied_seq, server.sweeps) == (7, 1)
    assert server.step()
    assert (server.asked, server.sweeps) == ([], 1), "nothing is new"
    server.seq = 8
    assert server.step()
    assert (server.asked, publication.applied_seq, server.sweeps) == (["follow"], 8, 1)


def test_what_was_published_whole_is_swept_again(tmp_path: Path) -> None:
    server = Server(tmp_path)
    assert server.step()
    server.seq, server.goes_meanwhile = 8, True
    assert server.step()
    assert (server.asked, server.sweeps) == (["follow", "publish"], 2)
    assert (
        PublishedEpoch(cast("Generation", SimpleNamespace(folder=tmp_path))).read() == server.state.epoch == 2
    )


def test_after_an_error_the_state_is_read_and_the_rows_are_counted(tmp_path: Path) -> None:
    server = Server(tmp_path)
    assert server.step()
    server.publication.look()
    server.applied = lambda _epoch: 1 / 0  # type: ignore[method-assign, assignment, return-value]
    with pytest.raises(ZeroDivisionError):
        server.step()
    assert server.publication.applied_seq == -1
    del server.applied
    assert server.step()
    assert server.asked == ["count"]
    server.publication.check()
    server.seq = 8
    assert server.step()
    assert server.asked == ["mend"], "what was begun is not known"
    server.publication.rest()
    server.publication.close()
    assert server.asked == ["mend", "rest", "close"]


@pytest.mark.parametrize("text", ["", "x", "1 2", "\xff"])
def test_a_damaged_epoch_is_none(tmp_path: Path, text: str) -> None:
    mark = PublishedEpoch(cast("Generation", SimpleNamespace(folder=tmp_path)))
    assert mark.read() == 0
    mark.write(7)
    assert mark.read() == 7
    (tmp_path / "published").write_text(text, "latin-1")
    assert mark.read() == 0


@pytest.mark.parametrize(
    ("changed", "asked"),
    [
        ({"epoch": 2}, "mend"),
        ({"seq": 6}, "mend"),
        ({"chunks": 4}, "mend"),
        ({"seen_ms": 9, "name": "other"}, "look"),
    ],
)
def test_rows_are_compared_where_the_state_stands_for_others(
    tmp_path: Path, changed: dict[str, Any], asked: str
) -> None:
    server = Server(tmp_path)
    assert server.step()
    server.state = replace(server.state, **changed)
    server.publication.look()
    assert server.step()
    assert server.asked[0] == asked


def test_a_state_that_is_ahead_of_the_catalog_is_published_again(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.seq = 6
    assert server.step()
    assert server.asked == ["publish"]
