"""Who asks, and which vaults that user may read."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Literal

from vault_indexer.config.gateway import EVERY_VAULT, GatewayUser
from vault_indexer.config.tables.identity import GatewayGroup
from vault_indexer.store.milvus import VaultState


@dataclass(frozen=True, slots=True)
class NewToken:
    """A random token, and what the configuration holds of it."""

    token: str
    sha256: str

    @classmethod
    def make(cls) -> NewToken:
        """Another one each time: 256 random bits."""
        token = secrets.token_urlsafe(32)
        return cls(token, digest_of(token))


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks: by a token of the configuration, by one of an OIDC provider, or as a trusted proxy says. The
    three do not mix: a `name` of one is never a user of another."""

    by: Literal["token", "oidc", "proxy"]
    name: str
    groups: tuple[str, ...] = ()
    token: str = field(default="", repr=False)
    """Of the configuration; "" for the others."""

    @property
    def share(self) -> str:
        """Whose share of requests it is. A provider and a proxy in front of it name the same people."""
        return f"{'token' if self.by == 'token' else 'login'}:{self.name}"


def digest_of(token: str) -> str:
    """The SHA-256 of a token, in hexadecimal digits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _today() -> date:
    return datetime.now(UTC).date()


class Users:
    """The users of one configuration. Immutable; any thread may ask it."""

    def __init__(
        self,
        users: Sequence[GatewayUser],
        groups: Sequence[GatewayGroup] = (),
        today: Callable[[], date] = _today,
    ) -> None:
        self._today = today
        self._groups = {group.name: group for group in groups}
        self._users = tuple(self._with_groups(user, user.groups) for user in users)
        self._by_login = {user.name: user for user in self._users if not user.digests}
        self._by_digest = {
            digest: (user, expires) for user in self._users for digest, expires in user.digests
        }

    def by_token(self, token: str) -> GatewayUser | None:
        """The user of a token. It costs the same with five users and with five thousand. What is looked up is
        the digest, of which nobody who guesses can choose the beginning, so the time says nothing."""
        user, expires = self._by_digest.get(digest_of(token), (None, None))
        is_over = expires is not None and self._today() > expires
        return user if token and not is_over else None

    def by_login(self, name: str, groups: Sequence[str]) -> GatewayUser:
        """The user that a provider or a proxy names, with the rights of the groups. Whoever is not in the
        configuration, nor any of the groups, has none."""
        return self._with_groups(self._by_login.get(name) or GatewayUser(name=name), groups)

    def of(self, identity: Identity) -> GatewayUser | None:
        """The user, with the rights that hold now; None where a token was taken away."""
        if identity.by == "token":
            return self.by_token(identity.token)
        return self.by_login(identity.name, identity.groups)

    @property
    def _holders(self) -> Iterator[GatewayUser | GatewayGroup]:
        yield from self._users
        yield from self._groups.values()

    def rights(self) -> Iterator[tuple[str, str]]:
        """The rights to vaults: the name of the user or of the group, and the vault's id."""
        for one in self._holders:
            for vault in one.vaults:
                if vault != EVERY_VAULT:
                    yield one.name, vault

    def counts(self) -> tuple[int, int]:
        """How many users and groups have rights, and how many vaults these name."""
        return sum(bool(one.vaults) for one in self._holders), len({vault for _, vault in self.rights()})

    def _with_groups(self, user: GatewayUser, names: Sequence[str]) -> GatewayUser:
        groups = [self._groups[name] for name in names if name in self._groups]
        if not groups:
            return user
        vaults = dict.fromkeys([*user.vaults, *(vault for group in groups for vault in group.vaults)])
        metrics = user.metrics or any(group.metrics for group in groups)
        return user.model_copy(update={"vaults": tuple(vaults), "metrics": metrics})


def readable(user: GatewayUser, states: Mapping[str, VaultState]) -> dict[str, VaultState]:
    """Those of the published vaults that the user may read, by id."""
    if EVERY_VAULT in user.vaults:
        return dict(states)
    return {vault: states[vault] for vault in user.vaults if vault in states}


def full_name(state: VaultState) -> str:
    """What people call a vault: `keeper/name`. Two folders of a keeper may have one name."""
    return f"{state.keeper}/{state.name}"
