"""Removes the publication of a vault, or transfers it to another index."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from vault_gateway.milvus import MilvusConnection, MilvusVaults
from vault_gateway.owner import IdentityFile, NotOwnerError
from vault_gateway.owner import take_over as take_over_vault
from vault_indexer.daemon.assembly import Target
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.errors import LockedError, UsageError

if TYPE_CHECKING:
    from vault_gateway.tables import MilvusSettings


def drop_publication(target: Target, environ: Mapping[str, str]) -> str:
    """Removes the publication of this index from the server of its settings. Returns the id of the vault, ""
    if there was none. The vault has another id when it is published again, so no right to it is restored.

    Raises UsageError if the settings name no server, LockedError if a daemon would publish the vault again,
    UnavailableError if the token's variable is not set, NotOwnerError if another index has published the
    vault, and BackendError.
    """
    settings, identity = target.config.settings, IdentityFile(target.index_dir)
    with ExitStack() as held:
        if settings.index.backend == "milvus" and target.index_dir.is_dir():
            _keep_from_publishing(target.index_dir, held)
        vaults = _published_vaults(target, environ, held)
        own = identity.read()
        if own is None:
            return ""
        known = vaults.state(own.vault)
        if known is not None and known.owner != own.owner:
            raise NotOwnerError(
                f'{known.full_name} is published by another index: "indexer gateway unpublish '
                f'{own.vault}" removes it anyway'
            )
        # First: if the server does not answer, the identity is still there for another attempt.
        vaults.drop(own.vault, time.time_ns() // 1_000_000)
        identity.forget()
        return own.vault if known else ""


def take_over(target: Target, environ: Mapping[str, str]) -> str:
    """Gives this index the publication of the vault by another index. Returns the message for the user, "" if
    there is nothing to take over.

    Raises UsageError if nothing is to be published, LockedError if a daemon of this index runs, and
    UnavailableError, BackendError as `drop_publication`.
    """
    settings = target.config.settings
    if settings.index.backend != "milvus":
        raise UsageError('--take-over: index.backend is not "milvus", so nothing is published')
    target.index_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    with ExitStack() as held:
        held.enter_context(IndexLock(target.index_dir, "take over"))
        vaults, file = _published_vaults(target, environ, held), IdentityFile(target.index_dir)
        now_ms = time.time_ns() // 1_000_000
        taken = take_over_vault(vaults, target.vault, settings.table("milvus").keeper, file, now_ms)
        return f"This index now publishes {target.vault}." if taken else ""


def _published_vaults(target: Target, environ: Mapping[str, str], held: ExitStack) -> MilvusVaults:
    milvus: MilvusSettings = target.config.settings.table("milvus")
    if not milvus.uri:
        raise UsageError("milvus.uri is not set: there is no server to which the vault is published")
    connection = held.enter_context(closing(MilvusConnection.from_settings(milvus, environ)))
    return MilvusVaults(connection, milvus.collection_prefix)


def _keep_from_publishing(index_dir: Path, held: ExitStack) -> None:
    try:
        held.enter_context(IndexLock(index_dir, "unpublish"))
    except LockedError as busy:
        raise LockedError(
            f'{busy}, which would publish the vault again: stop it, or set index.backend = "embedded"'
        ) from busy
