"""The vaults of one server, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from vault_indexer.config import vault_name_of
from vault_indexer.config.settings import SearchSettings
from vault_indexer.errors import UsageError
from vault_indexer.model import SearchAnswer, SearchRequest, VaultSummary
from vault_indexer.service import VaultService
from vault_indexer.vaults.kept import OpenVault, VaultHolder
from vault_indexer.vaults.searching import search_vaults


class Vaults:
    """All vaults that a server answers for, in the order of their names.

    It holds what each is called and chooses the one that a request means. Opening and closing is the
    business of whoever made the holders. Immutable; any thread may ask.
    """

    def __init__(self, holders: Sequence[VaultHolder], settings: SearchSettings | None = None) -> None:
        """`settings` rank a search over several; None means the defaults."""
        self._settings = settings or SearchSettings()
        self._holders = {one.name: one for one in sorted(holders, key=lambda one: one.name)}

    @classmethod
    def of(cls, service: VaultService, name: str = "") -> Self:
        """One vault, which is open; without a name it is called as its folder is."""
        folder = service.vault
        return cls([OpenVault(name or vault_name_of(folder), folder, service)])

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._holders)

    @property
    def are_several(self) -> bool:
        """Whether a request has to say which it means."""
        return len(self._holders) != 1

    def named(self, name: str) -> VaultHolder:
        """The vault of this name. Raises UsageError if there is none."""
        if name not in self._holders:
            raise UsageError(f"no vault {name[:60]!r} is kept here: {self._choices()}")
        return self._holders[name]

    def one(self, name: str = "") -> VaultService:
        """The service of the vault of this name; without a name, of the only one.

        Raises UsageError if there is none, or several and no name; else as `VaultHolder.service`.
        """
        if not name and self.are_several:
            raise UsageError(f"vault = '' is missing: {self._choices()}")
        return (self.named(name) if name else next(iter(self._holders.values()))).service()

    def holders(self, name: str = "") -> tuple[VaultHolder, ...]:
        """The vault of this name; without a name, all. Raises UsageError if there is none."""
        return (self.named(name),) if name else tuple(self._holders.values())

    def search(
        self, request: SearchRequest, name: str = "", *, is_cancelled: Callable[[], bool] = lambda: False
    ) -> SearchAnswer:
        """Ranked hits of the vault of this name, or of all together. Raises as `VaultService.search`."""
        if name or not self.are_several:
            return self.one(name).search(request, is_cancelled=is_cancelled)
        return search_vaults(self.holders(), request, self._settings, is_cancelled)

    def summaries(self) -> tuple[VaultSummary, ...]:
        """The state of each."""
        return tuple(one.summary() for one in self._holders.values())

    def _choices(self) -> str:
        return f"choose one of {', '.join(self._holders)}" if self._holders else "there are no vaults"
