"""Tokens of an OIDC provider: JSON Web Tokens that its public keys verify.

PyJWT fetches the keys and verifies; this module decides when keys are fetched, and which claims are required.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from vault_gateway.access import Identity
from vault_gateway.settings import GatewayOidc
from vault_indexer.errors import ProviderError

if TYPE_CHECKING:
    from jwt import PyJWK


log = logging.getLogger("vault_indexer.gateway")

_MOST_BYTES = 16 << 10
"""The maximum size of a token; a provider that lists hundreds of groups needs 10 KB."""

_FETCH_S = 3.0
_PAUSE_S = 10.0
"""The minimum interval between attempts to fetch the keys, so that tokens cannot make this gateway fetch more
often."""

_FORMER_S = 3600.0
"""The time for which fetched keys remain in use while the provider does not answer."""

_NAME_CHARS = 200

Reason = Literal[
    "token_form",
    "token_algorithm",
    "token_key",
    "token_signature",
    "token_expired",
    "token_early",
    "token_audience",
    "token_issuer",
    "token_claims",
]


class TokenRefusedError(Exception):
    """A token is rejected; the reason is counted, but not returned to the client."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


class KeysUnavailableError(Exception):
    """The keys of the provider are not available."""


class ProviderKeys:
    """The public keys of the provider, by their ids. The event loop owns it.

    They are fetched when a token first needs them, again once they are older than `good_s`, and when a token
    names an unknown one; never twice within ten seconds, and by one request for all that wait. If that fails,
    the previous keys stay valid for an hour, so a key that the provider withdraws ends by then at the latest.
    """

    def __init__(
        self,
        fetch: Callable[[], Sequence[PyJWK]],
        good_s: float,
        failed: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`fetch` may block, and raises `jwt.PyJWTError`. `failed` counts failures."""
        self._fetch = fetch
        self._good_s = good_s
        self._failed = failed
        self._clock = clock
        self._keys: Mapping[str, PyJWK] = {}
        self._fetched_at = self._tried_at = float("-inf")
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, key_id: str) -> PyJWK | None:
        """The key; None if the provider has none with this id. Raises KeysUnavailableError."""
        age = self._clock() - self._fetched_at
        is_known = key_id in self._keys
        if not is_known or age >= self._good_s:
            self._begin_to_fetch()
        if self._fetching is not None and (not is_known or age >= 2 * self._good_s):
            await asyncio.shield(self._fetching)
        if self._clock() - self._fetched_at > max(_FORMER_S, 2 * self._good_s):
            raise KeysUnavailableError
        return self._keys.get(key_id)

    def _begin_to_fetch(self) -> None:
        now = self._clock()
        is_fetching = self._fetching is not None and not self._fetching.done()
        if not is_fetching and now - self._tried_at >= _PAUSE_S:
            self._tried_at = now
            self._fetching = asyncio.create_task(self._fetch_now())

    async def _fetch_now(self) -> None:
        from jwt import PyJWTError

        try:
            found = await asyncio.to_thread(self._fetch)
        except (PyJWTError, OSError, ValueError) as error:
            self._failed()
            log.error("the keys of the OIDC provider cannot be fetched: %s", error)
            return
        self._keys = {str(one.key_id): one for one in found}
        self._fetched_at = self._clock()


class OidcTokens:
    """Verifies the tokens of one provider. The event loop owns it."""

    def __init__(self, settings: GatewayOidc, failed: Callable[[], None]) -> None:
        """Raises ProviderError if PyJWT is not installed, and OSError for `ca_file`."""
        try:
            import cryptography  # noqa: F401
            import jwt
        except ImportError as error:
            raise ProviderError(
                f'{error.name} is not installed, [oidc] needs it: pip install "vault-indexer[milvus]"'
            ) from error
        self._settings = settings
        client = jwt.PyJWKClient(
            settings.jwks_url,
            cache_jwk_set=False,
            timeout=_FETCH_S,
            ssl_context=ssl.create_default_context(cafile=settings.ca_file or None),
        )
        self._keys = ProviderKeys(client.get_signing_keys, settings.keys_s, failed)

    async def identity(self, token: str) -> Identity:
        """The identity in the token. Raises TokenRefusedError, and KeysUnavailableError."""
        key = await self._keys.find(self._key_id(token))
        if key is None:
            raise TokenRefusedError("token_key")
        claims = self._claims(token, key)
        return Identity("oidc", self._user(claims), self._groups(claims))

    def _key_id(self, token: str) -> str:
        """The id of the key that the token names, if the token may come from this provider: no other token
        makes the gateway fetch keys."""
        import jwt

        if len(token) > _MOST_BYTES:
            raise TokenRefusedError("token_form")
        try:
            unverified = jwt.api_jwt.decode_complete(token, options={"verify_signature": False})
        except jwt.PyJWTError as error:
            raise TokenRefusedError("token_form") from error
        header, claims = unverified["header"], unverified["payload"]
        if header.get("alg") not in self._settings.algorithms:
            raise TokenRefusedError("token_algorithm")
        if claims.get("iss") != self._settings.issuer:
            raise TokenRefusedError("token_issuer")
        key_id = header.get("kid")
        if not isinstance(key_id, str) or not key_id:
            raise TokenRefusedError("token_key")
        return key_id

    def _claims(self, token: str, key: PyJWK) -> Mapping[str, Any]:
        import jwt

        of = self._settings
        try:
            return jwt.decode(
                token,
                key,
                algorithms=list(of.algorithms),
                audience=of.audience,
                issuer=of.issuer,
                leeway=of.leeway_s,
                options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
            )
        except jwt.PyJWTError as error:
            raise TokenRefusedError(_reason(error)) from error

    def _user(self, claims: Mapping[str, Any]) -> str:
        """The name of the user. An email address that the provider has not verified is rejected."""
        claim = self._settings.user_claim
        name = claims.get(claim)
        unchecked = claim == "email" and claims.get("email_verified") is not True
        if not is_name(name) or unchecked:
            raise TokenRefusedError("token_claims")
        return str(name)

    def _groups(self, claims: Mapping[str, Any]) -> tuple[str, ...]:
        given = claims.get(self._settings.groups_claim, ())
        groups = [given] if isinstance(given, str) else given
        if not isinstance(groups, list | tuple):
            raise TokenRefusedError("token_claims")
        return tuple(group for group in groups if is_name(group))


def is_name(value: object) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value) <= _NAME_CHARS
        and value.isprintable()
        and value.strip() == value
    )


def _reason(error: Exception) -> Reason:
    import jwt

    reasons: tuple[tuple[type[Exception], Reason], ...] = (
        (jwt.ExpiredSignatureError, "token_expired"),
        (jwt.ImmatureSignatureError, "token_early"),
        (jwt.InvalidAudienceError, "token_audience"),
        (jwt.InvalidIssuerError, "token_issuer"),
        (jwt.MissingRequiredClaimError, "token_claims"),
        (jwt.InvalidAlgorithmError, "token_algorithm"),
        (jwt.InvalidKeyError, "token_key"),
        (jwt.InvalidSignatureError, "token_signature"),
    )
    return next((reason for kind, reason in reasons if isinstance(error, kind)), "token_form")
