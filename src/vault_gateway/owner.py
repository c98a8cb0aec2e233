"""Ownership of a publication: the id of a vault on servers, and the key that proves it."""

from __future__ import annotations

import hashlib
import re
import secrets
import socket
from dataclasses import replace
from pathlib import Path

from vault_gateway.milvus import MilvusVaults, VaultState, place_digest
from vault_indexer.errors import BackendError
from vault_indexer.system import record, write_atomically
from vault_indexer.text.phrases import iso_time

_FILE = re.compile(r"([a-z0-9-]{1,60}-[0-9a-f]{16}) ([0-9a-f]{64})\s*")


class NotOwnerError(BackendError):
    """Another index publishes this vault, or it was removed from the server."""


@record
class PublicationIdentity:
    """The id of a vault, and the secret key of the index that may publish it."""

    vault: str
    key: str

    @classmethod
    def make(cls, name: str) -> PublicationIdentity:
        """Creates a new identity; the folder's name is in the id only for readability."""
        readable = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:40].strip("-") or "vault"
        return cls(f"{readable}-{secrets.token_hex(8)}", secrets.token_hex(32))

    @property
    def owner(self) -> str:
        return hashlib.sha256(self.key.encode()).hexdigest()


class IdentityFile:
    """The file `publication` in an index folder. Only the holder of the index lock may write it."""

    def __init__(self, index_dir: Path) -> None:
        self._path = index_dir / "publication"

    def read(self) -> PublicationIdentity | None:
        """The identity; None if this index has published nothing, or the file is damaged."""
        try:
            found = _FILE.fullmatch(self._path.read_text("ascii"))
        except (OSError, ValueError):
            return None
        return PublicationIdentity(*found.groups()) if found else None

    def keep(self, name: str) -> PublicationIdentity:
        """The identity, created if it does not exist. Raises OSError."""
        found = self.read()
        if found is None:
            found = PublicationIdentity.make(name)
            self.write(found)
        return found

    def write(self, identity: PublicationIdentity) -> None:
        """Writes it durably, readable only by the user. Raises OSError."""
        write_atomically(self._path, f"{identity.vault} {identity.key}\n".encode())

    def forget(self) -> None:
        """Removes the identity, so that the next publication of the vault gets a new id. Raises OSError."""
        self._path.unlink(missing_ok=True)


@record
class PublishedVault:
    """The parties of a publication: the vault's id on the server, its display name, its daemon, and the
    digests of its place and of its owner's key (see `VaultState`)."""

    vault: str
    name: str
    keeper: str
    place: str
    owner: str

    @classmethod
    def of(cls, folder: Path, keeper: str, identity: PublicationIdentity) -> PublishedVault:
        """The vault in a folder. An empty `keeper` is the name of the host."""
        keeper = keeper or socket.gethostname()
        name = folder.name.encode("utf-8", "replace").decode("utf-8")
        return cls(identity.vault, name, keeper, place_digest(str(folder), keeper), identity.owner)

    @property
    def full_name(self) -> str:
        return f"{self.keeper}/{self.name}"


def require_owner(vaults: MilvusVaults, published: PublishedVault) -> VaultState | None:
    """Returns the current state of the vault, None if it was never published. Raises NotOwnerError if another
    index publishes the vault, or one of the same keeper and folder, or if it was unpublished. Of two that
    began at the same time, the first keeps the ownership."""
    records = vaults.records(published.vault, published.place)
    own = next((record for record in records if record.vault == published.vault), None)
    if own is not None and own.withdrawn_ms:
        raise NotOwnerError(
            f"{published.full_name} was unpublished at {iso_time(own.withdrawn_ms * 1_000_000)}; "
            "publish it under a new id with --take-over"
        )
    for other in records:
        began_earlier = own is None or (other.claimed_ms, other.vault) <= (own.claimed_ms, own.vault)
        if not other.withdrawn_ms and other.owner != published.owner and began_earlier:
            raise NotOwnerError(
                f"{published.full_name} has been published by another index since "
                f"{iso_time(other.claimed_ms * 1_000_000)}; "
                "take it over with --take-over"
            )
    return own


def take_over(vaults: MilvusVaults, folder: Path, keeper: str, file: IdentityFile, now_ms: int) -> bool:
    """Gives this index the publication of its folder and keeper, with the id of the vault, so that rights are
    preserved. An unpublished vault gets a new id. Returns False if there is nothing to take over. Raises
    BackendError and OSError; it can be repeated after a failure."""
    identity = file.keep(folder.name)
    published = PublishedVault.of(folder, keeper, identity)
    records = vaults.records(published.vault, published.place)
    if any(one.vault == published.vault and one.withdrawn_ms for one in records):
        file.write(PublicationIdentity.make(folder.name))
        return True
    foreign = [record for record in records if not record.withdrawn_ms and record.owner != published.owner]
    if not foreign:
        return False
    chosen = min(foreign, key=lambda one: (one.claimed_ms, one.vault))
    mine = PublicationIdentity(chosen.vault, identity.key)
    file.write(mine)
    vaults.overwrite(replace(chosen, owner=mine.owner, claimed_ms=now_ms))
    return True
