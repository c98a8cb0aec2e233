"""The states of vaults: an older one never replaces a newer, and what was unpublished stays so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from milvus_server import MilvusServer

from vault_indexer.store.milvus import MilvusConnection, MilvusVaults, OutdatedStateError, VaultState

STATE = VaultState("one", "one", "keeper", "", "m", "", ("en",), 2, 5, 1, 0, place="here", owner="me")


@pytest.fixture(scope="module")
def vaults(shared_server: MilvusServer) -> Iterator[MilvusVaults]:
    made = MilvusVaults(MilvusConnection(shared_server.uri), "states")
    made.create()
    yield made
    made.connection.close()


@pytest.mark.parametrize(
    "late",
    [
        {"epoch": 1, "seq": 9},
        {"seq": 4},
        {"owner": "another"},
    ],
)
def test_an_older_state_never_replaces_a_newer(vaults: MilvusVaults, late: dict[str, int]) -> None:
    vaults.overwrite(STATE)
    with pytest.raises(OutdatedStateError, match="keeper/one was published by somebody else meanwhile"):
        vaults.put(replace(STATE, **late))  # type: ignore[arg-type]
    assert vaults.state("one") == STATE
    newer = replace(STATE, epoch=3, seq=0)
    vaults.put(newer)
    assert vaults.state("one") == newer


def test_what_was_unpublished_is_not_found_and_not_written_again(vaults: MilvusVaults) -> None:
    gone = replace(STATE, vault="gone")
    vaults.put(gone)
    assert vaults.drop("gone", 7) == gone
    assert vaults.drop("gone", 8) is None
    assert vaults.state("gone") is None
    assert "gone" not in vaults.all()
    with pytest.raises(OutdatedStateError):
        vaults.put(replace(gone, seq=9))
    (tombstone,) = [one for one in vaults.records("gone", "nowhere") if one.vault == "gone"]
    assert tombstone.withdrawn_ms == 7
