"""What whoever runs a gateway does with the server: look at what is published, give rights, unpublish."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager

from vault_indexer.config.gateway import GatewaySettings
from vault_indexer.errors import UnknownVaultError
from vault_indexer.gateway.server import server_connection
from vault_indexer.gateway.users import full_name
from vault_indexer.store.milvus import MilvusVaults, VaultState


class GatewayAdministration:
    """Asks the server of a gateway's configuration, without a gateway. Raises BackendError."""

    def __init__(self, vaults: MilvusVaults) -> None:
        self._vaults = vaults

    @classmethod
    @contextmanager
    def of(cls, settings: GatewaySettings, environ: Mapping[str, str]) -> Iterator[GatewayAdministration]:
        """Connected for the time of the block. Raises ConfigError."""
        with closing(server_connection(settings.milvus, environ)) as connection:
            yield cls(MilvusVaults(connection, settings.milvus.collection_prefix))

    def published(self) -> list[VaultState]:
        """The vaults that are published, by keeper and name."""
        return sorted(self._vaults.all().values(), key=lambda one: (one.keeper, one.name, one.vault))

    def resolve(self, written: str) -> VaultState:
        """The vault that a person means by an id or by `keeper/name`. Raises UnknownVaultError where it is
        none, or more than one, or a name alone."""
        states = self.published()
        found = [one for one in states if written in (one.vault, full_name(one))]
        if len(found) == 1:
            return found[0]
        same_name = [one for one in states if one.name == written]
        if found:
            raise UnknownVaultError(f"{written} is the name of several vaults: {_listed(found)}")
        if same_name:
            raise UnknownVaultError(f"a name alone names no vault; did you mean {_listed(same_name)}?")
        raise UnknownVaultError(f'no vault {written} is published: "indexer gateway vaults" lists them')

    def unpublish(self, vault: str) -> VaultState | None:
        """Remove all that is published of the vault of an id; None where nothing was. Its keeper is told that
        it was unpublished if it publishes again."""
        return self._vaults.drop(vault, time.time_ns() // 1_000_000)


def _listed(states: Iterable[VaultState]) -> str:
    return ", ".join(f"{full_name(one)} ({one.vault})" for one in states)
