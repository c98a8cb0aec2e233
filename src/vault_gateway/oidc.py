"""Tokens of an OIDC provider: JSON Web Tokens that its public keys verify.

PyJWT reads the keys and verifies; this module fetches the keys, and decides which claims are required.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from vault_gateway.access import Identity
from vault_gateway.settings import GatewayOidc
from vault_indexer.config.values import printable
from vault_indexer.errors import ProviderError

if TYPE_CHECKING:
    from jwt import PyJWK


log = logging.getLogger("vault_indexer.gateway")

_MOST_BYTES = 16 << 10
"""The maximum size of a token; a provider that lists hundreds of groups needs 10 KB."""

_FETCH_S = 3.0
"""The time limit of a whole fetch, from the look-up of the address to the last key."""

_MAX_KEYS_BYTES = 1 << 20
"""The maximum size of the provider's answer: large providers with certificates in their keys send 30 KB."""

_SHOWN_CHARS = 200
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


class KeyFetchError(Exception):
    """The keys could not be fetched; the message is one line."""


Keys = Mapping[str, "PyJWK"]
"""Public keys by their ids."""


async def fetch_keys(url: str, tls: ssl.SSLContext, limit_s: float = _FETCH_S) -> Keys:
    """The keys for signatures at a URL. Redirects are not followed. Raises KeyFetchError for an answer that
    is not complete after `limit_s`, one that is too large, and one without such keys."""
    import httpx

    content = bytearray()
    try:
        async with asyncio.timeout(limit_s), httpx.AsyncClient(verify=tls, timeout=None) as client:
            async with client.stream("GET", url, headers={"accept-encoding": "identity"}) as answer:
                if answer.status_code != httpx.codes.OK:
                    raise KeyFetchError(f"status {answer.status_code}")
                async for part in answer.aiter_raw():
                    content += part
                    if len(content) > _MAX_KEYS_BYTES:
                        raise KeyFetchError(f"the answer has more than {_MAX_KEYS_BYTES} bytes")
            return await asyncio.to_thread(_signing_keys, content)
    except TimeoutError as error:
        raise KeyFetchError(f"no complete answer within {limit_s:g} seconds") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise KeyFetchError(printable(str(error) or type(error).__name__, _SHOWN_CHARS)) from error


def _signing_keys(content: bytes | bytearray) -> Keys:
    from cryptography.exceptions import UnsupportedAlgorithm
    from jwt import PyJWKSet, PyJWTError

    # PyJWT raises whatever error an unexpected value causes.
    unexpected = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)
    try:
        found = PyJWKSet.from_json(content.decode()).keys
        keys = {key.key_id: key for key in found if key.key_id and key.public_key_use in ("sig", None)}
    except (PyJWTError, UnsupportedAlgorithm, *unexpected) as error:
        reason = printable(f"{type(error).__name__}: {error}", _SHOWN_CHARS)
        raise KeyFetchError(f"the answer is not a set of keys: {reason}") from error
    if not keys:
        raise KeyFetchError("the answer has no key for signatures")
    return keys


class ProviderKeys:
    """The public keys of the provider, by their ids. The event loop owns it.

    They are fetched when a token first needs them, again once they are older than `good_s`, and when a token
    names an unknown one; never twice within ten seconds, by one task for all requests. If that fails, the
    previous keys stay valid for an hour, so a key that the provider withdraws ends by then at the latest.
    While it fails, requests with a known key do not wait; others wait until the fetch ends.
    """

    def __init__(
        self,
        fetch: Callable[[], Awaitable[Keys]],
        good_s: float,
        failed: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`fetch` has its own time limit, and raises KeyFetchError. `failed` counts failures."""
        self._fetch = fetch
        self._good_s = good_s
        self._former_s = max(_FORMER_S, 2 * good_s)
        self._failed = failed
        self._clock = clock
        self._keys: Keys = {}
        self._is_failing = False
        self._fetched_at = self._tried_at = float("-inf")
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, key_id: str) -> PyJWK | None:
        """The key; None if the provider has none with this id. Raises KeysUnavailableError."""
        is_known = key_id in self._keys and self._age() <= self._former_s
        if not is_known or self._age() >= self._good_s:
            self._begin_to_fetch()
        may_be_withdrawn = self._age() >= 2 * self._good_s and not self._is_failing
        if self._fetching is not None and (not is_known or may_be_withdrawn):
            await asyncio.shield(self._fetching)
        if self._age() > self._former_s:
            raise KeysUnavailableError
        return self._keys.get(key_id)

    def _age(self) -> float:
        return self._clock() - self._fetched_at

    def _begin_to_fetch(self) -> None:
        now = self._clock()
        is_fetching = self._fetching is not None and not self._fetching.done()
        if not is_fetching and now - self._tried_at >= _PAUSE_S:
            self._tried_at = now
            self._fetching = asyncio.create_task(self._fetch_now())

    async def _fetch_now(self) -> None:
        try:
            self._keys = await self._fetch()
        except KeyFetchError as error:
            self._is_failing = True
            self._failed()
            log.error("the keys of the OIDC provider cannot be fetched: %s", error)
        else:
            self._is_failing = False
            self._fetched_at = self._clock()


class OidcTokens:
    """Verifies the tokens of one provider. The event loop owns it."""

    def __init__(self, settings: GatewayOidc, failed: Callable[[], None]) -> None:
        """Raises ProviderError if PyJWT is not installed, and OSError for `ca_file`."""
        try:
            import cryptography  # noqa: F401
            import httpx  # noqa: F401 - now, since it takes too long for the event loop
            import jwt  # noqa: F401
        except ImportError as error:
            raise ProviderError(
                f'{error.name} is not installed, but [oidc] requires it: pip install "vault-indexer[milvus]"'
            ) from error
        self._settings = settings
        tls = ssl.create_default_context(cafile=settings.ca_file or None)
        self._keys = ProviderKeys(partial(fetch_keys, settings.jwks_url, tls), settings.keys_s, failed)

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
