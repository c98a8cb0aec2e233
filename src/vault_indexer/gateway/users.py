"""Who asks, and which vaults that user may read."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from vault_indexer.config.gateway import EVERY_VAULT, GatewayUser
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


def digest_of(token: str) -> str:
    """The SHA-256 of a token, in hexadecimal digits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _today() -> date:
    return datetime.now(UTC).date()


class Users:
    """The users of one configuration. Immutable; any thread may ask it."""

    def __init__(self, users: Sequence[GatewayUser], today: Callable[[], date] = _today) -> None:
        self._today = today
        self._users = tuple(users)
        self._by_digest = {
            digest: (user, expires) for user in self._users for digest, expires in user.digests
        }

    def by_token(self, token: str) -> GatewayUser | None:
        """The user of a token. It costs the same with five users and with five thousand. What is looked up is
        the digest, of which nobody who guesses can choose the beginning, so the time says nothing."""
        user, expires = self._by_digest.get(digest_of(token), (None, None))
        is_over = expires is not None and self._today() > expires
        return user if token and not is_over else None

    def rights(self) -> Iterator[tuple[str, str]]:
        """The rights to vaults: the user's name and the vault's id."""
        for user in self._users:
            for vault in user.vaults:
                if vault != EVERY_VAULT:
                    yield user.name, vault


def readable(user: GatewayUser, states: Mapping[str, VaultState]) -> dict[str, VaultState]:
    """Those of the published vaults that the user may read, by id."""
    if EVERY_VAULT in user.vaults:
        return dict(states)
    return {vault: states[vault] for vault in user.vaults if vault in states}


def full_name(state: VaultState) -> str:
    """What people call a vault: `keeper/name`. Two folders of a keeper may have one name."""
    return f"{state.keeper}/{state.name}"
