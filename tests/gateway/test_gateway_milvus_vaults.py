"""The states of vaults: none replaces another than it follows, and what was unpublished stays so."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from milvus_in_memory import MilvusInMemory

from vault_gateway.milvus import MilvusConnection, MilvusVaults, OutdatedStateError, VaultState
from vault_gateway.milvus.schema import table_name
from vault_gateway.milvus.vaults import next_epoch

STATE = VaultState("one", "one", "keeper", "", "m", "", ("en",), 2, 5, 1, 0, place="here", owner="me")


@pytest.fixture(scope="module", params=["in memory", "a server"])
def vaults(request: pytest.FixtureRequest, prefixes: Iterator[str]) -> Iterator[MilvusVaults]:
    """The first one is what tests without a server have in its place: both do the same."""
    if request.param == "in memory":
        connection = MilvusInMemory().connect()
    else:
        connection = MilvusConnection(request.getfixturevalue("shared_server").uri)
    made = MilvusVaults(connection, next(prefixes))
    made.create()
    yield made
    made.connection.close()


@pytest.mark.parametrize(
    "now",
    [
        {"epoch": 3, "seq": 0},
        {"epoch": 1, "seq": 9},
        {"seq": 6},
        {"seq": 4},
        {"owner": "another"},
        {"vault": "another"},
    ],
)
def test_a_state_replaces_only_the_one_that_its_publisher_knows(
    vaults: MilvusVaults, now: dict[str, Any]
) -> None:
    vaults.connection.call("delete", table_name(vaults.prefix, "vaults"), filter='vault == "one"')
    vaults.overwrite(replace(STATE, **now))
    known = vaults.state("one")
    with pytest.raises(OutdatedStateError, match="keeper/one has been published by another process, or"):
        vaults.put(replace(STATE, seq=7), STATE)
    assert vaults.state("one") == known
    vaults.put(replace(STATE, seq=7), known and replace(known, seen_ms=9))
    assert vaults.state("one") == replace(STATE, seq=7)


def test_an_epoch_follows_the_one_before_and_is_never_used_twice() -> None:
    first = {next_epoch(0) for _ in range(100)}
    second = {next_epoch(epoch) for epoch in first}
    assert len(first | second) == 200
    assert 7 < min(first) < max(first) < min(second)
    assert all(0 < next_epoch(before) < 1 << 63 for before in (7, max(second), 1 << 62))


def test_what_was_unpublished_is_not_found_and_not_written_again(vaults: MilvusVaults) -> None:
    gone = replace(STATE, vault="gone")
    vaults.put(gone, None)
    assert vaults.drop("gone", 7) == gone
    assert vaults.drop("gone", 8) is None
    assert vaults.state("gone") is None
    assert "gone" not in vaults.all()
    with pytest.raises(OutdatedStateError):
        vaults.put(replace(gone, seq=9), gone)
    with pytest.raises(OutdatedStateError):
        vaults.put(replace(gone, seq=9), None)
    (tombstone,) = [one for one in vaults.records("gone", "nowhere") if one.vault == "gone"]
    assert (tombstone.withdrawn_ms, tombstone.chunks, tombstone.notes) == (7, 0, 0)


def test_the_words_of_a_vault_go_when_others_replace_them_and_when_it_is_unpublished(
    vaults: MilvusVaults,
) -> None:
    first, left, second = (
        vaults.put_statistics("diary", words)
        for words in (b"the words of a diary", b"those of a publisher that was killed", b"its words of today")
    )
    other = vaults.put_statistics("another diary", b"words of another one")
    states = [
        replace(STATE, vault="diary", statistics=words, seq=seq)
        for seq, words in enumerate([first, second, second])
    ]
    vaults.put(states[0], None)
    vaults.put(states[1], states[0])
    assert vaults.blob(first) is None
    assert vaults.blob(left) is None
    vaults.put(states[2], states[1])
    assert vaults.blob(second) == b"its words of today"
    vaults.put_statistics("diary", b"those of a publisher that was killed")
    vaults.drop("diary", 7)
    assert vaults.blob(second) is None
    assert vaults.blob(left) is None
    assert vaults.blob(other) == b"words of another one"
    rows = vaults.connection.call(
        "query", table_name(vaults.prefix, "blobs"), filter='part != ""', output_fields=["data"]
    )
    assert len([row for row in rows if not row["data"]]) == 1, "of the other one"


def test_a_second_call_removes_what_an_interrupted_one_has_left(vaults: MilvusVaults) -> None:
    words = vaults.put_blob(b"words of a vault whose removal was interrupted")
    gone = replace(STATE, vault="half", statistics=words)
    vaults.overwrite(replace(gone, chunks=0, withdrawn_ms=6))
    vaults.put_notes(gone, [(1, b"a note")])
    assert vaults.drop("half", 7) is None
    assert vaults.blob(words) is None
    assert vaults.notes(gone, [1]) == {}
    assert [one.withdrawn_ms for one in vaults.records("half", "nowhere")] == [6]


def test_more_notes_than_one_call_takes_are_written_and_removed(vaults: MilvusVaults) -> None:
    kept = {number: b"n" * 100_000 * (number % 2) + str(number).encode() for number in range(120)}
    vaults.put_notes(STATE, kept.items())
    assert vaults.notes(STATE, kept) == kept
    vaults.delete_notes(STATE, range(1, 119))
    assert vaults.note_ids(STATE) == {0, 119}
    assert vaults.notes(STATE, kept) == {0: kept[0], 119: kept[119]}
