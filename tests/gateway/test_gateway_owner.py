"""Whose a publication is: one index at a time, until another one takes it over."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from vault_gateway.milvus import MilvusVaults, VaultState
from vault_gateway.owner import (
    IdentityFile,
    NotOwnerError,
    PublicationIdentity,
    PublishedVault,
    require_owner,
    take_over,
)

FOLDER = Path("/vaults/Help")


class Table:
    """Implements what is asked of MilvusVaults, in memory."""

    def __init__(self, *states: VaultState) -> None:
        self.states = {one.vault: one for one in states}

    def records(self, vault: str, place: str) -> Sequence[VaultState]:
        return [one for one in self.states.values() if vault == one.vault or place == one.place]

    def overwrite(self, state: VaultState) -> None:
        self.states[state.vault] = state

    def require(self, published: PublishedVault) -> None:
        require_owner(cast("MilvusVaults", self), published)

    def take_over(self, file: IdentityFile) -> bool:
        return take_over(cast("MilvusVaults", self), FOLDER, "alpha", file, 9)


def mine(file: IdentityFile) -> PublishedVault:
    return PublishedVault.of(FOLDER, "alpha", file.keep(FOLDER.name))


def state_of(published: PublishedVault, claimed_ms: int) -> VaultState:
    named = (published.vault, published.name, published.keeper)
    state = VaultState(*named, "", "model", "", ("en",), 3, 7, 1, 5)
    return replace(state, place=published.place, owner=published.owner, claimed_ms=claimed_ms)


def index_of(folder: Path, name: str) -> IdentityFile:
    (folder / name).mkdir()
    return IdentityFile(folder / name)


@pytest.mark.posix("modes of files")
def test_an_id_is_made_once_and_its_key_is_private(tmp_path: Path) -> None:
    file = index_of(tmp_path, "one")
    first = file.keep("Help")
    assert file.keep("Renamed") == first
    assert first.vault.startswith("help-")
    assert (tmp_path / "one" / "publication").stat().st_mode & 0o077 == 0
    assert first.key not in mine(file).owner
    file.forget()
    assert file.keep("Help") != first


def test_another_index_of_the_same_keeper_and_folder_is_refused(tmp_path: Path) -> None:
    first, second = index_of(tmp_path, "one"), index_of(tmp_path, "two")
    table = Table(state_of(mine(first), 1_000))
    table.require(mine(first))
    with pytest.raises(NotOwnerError) as refused:
        table.require(mine(second))
    assert str(refused.value) == (
        "alpha/Help has been published by another index since 1970-01-01T00:00:01Z; "
        "take it over with --take-over"
    )
    table.require(PublishedVault.of(FOLDER, "beta", second.keep("Help")))


def test_of_two_that_began_together_one_stays(tmp_path: Path) -> None:
    first, second = index_of(tmp_path, "one"), index_of(tmp_path, "two")
    table = Table(state_of(mine(second), 2_000), state_of(mine(first), 1_000))
    table.require(mine(first))
    with pytest.raises(NotOwnerError):
        table.require(mine(second))


def test_who_takes_over_has_the_id_and_the_former_owner_is_refused(tmp_path: Path) -> None:
    first, second = index_of(tmp_path, "one"), index_of(tmp_path, "two")
    was = mine(first)
    table = Table(state_of(was, 1_000))
    assert table.take_over(second)
    assert mine(second).vault == was.vault
    table.require(mine(second))
    with pytest.raises(NotOwnerError):
        table.require(mine(first))
    assert not table.take_over(second)


def test_a_tombstone_is_no_place_to_publish_at(tmp_path: Path) -> None:
    file = index_of(tmp_path, "one")
    was = mine(file)
    table = Table(replace(state_of(was, 1_000), withdrawn_ms=5_000))
    with pytest.raises(NotOwnerError, match="alpha/Help was unpublished at 1970-01-01T00:00:05Z; publish"):
        table.require(was)
    table.require(mine(index_of(tmp_path, "two")))
    assert table.take_over(file)
    assert mine(file).vault != was.vault
    table.require(mine(file))


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("My  Vault!", "my-vault"),
        ("---", "vault"),
        ("土星", "vault"),
        ("x/../y", "x-y"),
        ("a" * 60, "a" * 40),
        (f"{'a' * 39} b", "a" * 39),
    ],
)
def test_an_identity_shows_the_name_of_its_folder_and_is_read_as_it_was_written(
    tmp_path: Path, name: str, readable: str
) -> None:
    file, made = index_of(tmp_path, "one"), PublicationIdentity.make(name)
    assert made.vault[:-17] == readable
    assert (len(made.vault) - len(readable), len(made.key)) == (17, 64)
    assert made != PublicationIdentity.make(name)
    file.write(made)
    assert file.read() == made


def test_a_damaged_identity_is_none(tmp_path: Path) -> None:
    file = IdentityFile(tmp_path)
    assert file.read() is None
    made = file.keep("Help")
    for content in (b"", b"help", f"{made.vault} {made.key[:-1]}\n".encode(), b"\xff"):
        (tmp_path / "publication").write_bytes(content)
        assert file.read() is None
    file.forget()
    file.forget()
    assert not (tmp_path / "publication").exists()


def test_a_keeper_without_a_name_is_its_host(tmp_path: Path) -> None:
    identity = PublicationIdentity("help-0", "key")
    here = PublishedVault.of(Path("/vaults/Help"), "", identity)
    named = PublishedVault.of(Path("/vaults/Help"), "alpha", identity)
    assert (named.full_name, named.vault, named.owner) == ("alpha/Help", "help-0", identity.owner)
    assert here.keeper and here.keeper != "alpha"
    assert here.place != named.place
