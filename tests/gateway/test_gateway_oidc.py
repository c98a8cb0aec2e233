"""Tokens of an OIDC provider: which are accepted, and when keys are fetched."""

import asyncio
import base64
import hmac
import json
import ssl
import time
from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from gateway_lab import ANA, OPS, Gateway, Team, User, gateway, id_of
from identity_provider import AUDIENCE, ISSUER, IdentityProvider, identity_provider, rsa_key
from test_gateway_figures import samples
from waiting import DEADLINE_S

from vault_gateway.oidc import (
    KeyFetchError,
    KeysUnavailableError,
    OidcTokens,
    ProviderKeys,
    TokenRefusedError,
    fetch_keys,
)
from vault_gateway.settings import GatewayOidc

FIRST, SECOND = rsa_key(), rsa_key()


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with identity_provider({"first": FIRST}) as one:
        yield one


def tokens(provider: IdentityProvider, **settings: Any) -> OidcTokens:
    given = {"issuer": ISSUER, "audience": AUDIENCE, "jwks_url": provider.url, **settings}
    return OidcTokens(GatewayOidc(**given), lambda: None)


def refused(of: OidcTokens, token: str) -> str:
    with pytest.raises(TokenRefusedError) as caught:
        asyncio.run(of.identity(token))
    return caught.value.reason


def test_a_token_names_the_user_and_the_groups(provider: IdentityProvider) -> None:
    found = asyncio.run(tokens(provider).identity(provider.token("ana", groups=["cooks", 7, "", "a\nb"])))
    assert (found.by, found.name, found.groups) == ("oidc", "ana", ("cooks",))
    one = tokens(provider, user_claim="email", groups_claim="role")
    token = provider.token(email="ana@example.org", email_verified=True, role="cooks")
    found = asyncio.run(one.identity(token))
    assert (found.name, found.groups) == ("ana@example.org", ("cooks",))
    assert refused(one, provider.token(email="ana@example.org")) == "token_claims"
    assert refused(one, provider.token(email="ana@example.org", email_verified=False)) == "token_claims"


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": int(time.time()) - 60}, "token_expired"),
        ({"exp": None}, "token_claims"),
        ({"nbf": int(time.time()) + 3600}, "token_early"),
        ({"iat": int(time.time()) + 3600}, "token_early"),
        ({"aud": "another"}, "token_audience"),
        ({"aud": None}, "token_claims"),
        ({"iss": ISSUER + "/"}, "token_issuer"),
        ({"iss": None}, "token_issuer"),
        ({"sub": None}, "token_claims"),
        ({"sub": ""}, "token_claims"),
        ({"sub": "a\nb"}, "token_claims"),
        ({"sub": "x" * 201}, "token_claims"),
        ({"groups": {"a": 1}}, "token_claims"),
    ],
)
def test_a_token_that_says_something_else_is_refused(
    provider: IdentityProvider, claims: dict[str, Any], reason: str
) -> None:
    assert refused(tokens(provider), provider.token(**claims)) == reason


def test_the_clock_of_the_provider_may_differ_a_little(provider: IdentityProvider) -> None:
    late = provider.token(exp=int(time.time()) - 10)
    assert asyncio.run(tokens(provider).identity(late)).name == "ana"
    assert refused(tokens(provider, leeway_s=0.0), late) == "token_expired"


def unsigned(header: dict[str, Any], claims: dict[str, Any]) -> str:
    return ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (header, claims)
    )


def test_forged_tokens_are_refused(provider: IdentityProvider) -> None:
    one = tokens(provider)
    good = provider.token()
    claims = jwt.decode(good, options={"verify_signature": False})
    assert refused(one, provider.token(key=SECOND)) == "token_signature"
    head, body, signature = good.split(".")
    eve = unsigned({}, {**claims, "sub": "eve"}).split(".")[1]
    assert refused(one, f"{head}.{eve}.{signature}") == "token_signature"
    assert refused(one, f"{head}.{body}.") == "token_signature"
    none = unsigned({"alg": "none", "kid": "first"}, claims)
    assert refused(one, f"{none}.") == "token_algorithm"
    public = FIRST.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head, body = unsigned({"alg": "HS256", "kid": "first"}, claims).split(".")
    mac = hmac.digest(public, f"{head}.{body}".encode(), "sha256")  # the public key, taken for a secret
    signed = base64.urlsafe_b64encode(mac).rstrip(b"=").decode()
    assert refused(one, f"{head}.{body}.{signed}") == "token_algorithm"
    other = jwt.encode(claims, FIRST, "RS512", headers={"kid": "first"})
    assert refused(one, other) == "token_algorithm"
    assert refused(tokens(provider, algorithms=("RS256", "RS512")), other) == "token_algorithm"
    assert refused(one, jwt.encode(claims, FIRST, "RS256")) == "token_key"  # it names no key
    for text in ("a.b.c", "..", "x" * 20_000 + "..", f"{good}=", "é.é.é"):
        assert refused(one, text) in ("token_form", "token_signature")


def test_a_short_key_of_the_provider_verifies_nothing(provider: IdentityProvider) -> None:
    provider.keys["short"] = rsa_key(1024)
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        token = provider.token(kid="short")
    assert refused(tokens(provider), token) == "token_key"


def test_no_key_is_fetched_from_where_a_token_or_a_redirect_says(provider: IdentityProvider) -> None:
    with identity_provider({"first": SECOND}) as other:
        claims = jwt.decode(provider.token(), options={"verify_signature": False})
        header = {"kid": "mine", "jku": other.url, "x5u": other.url, "jwk": {"kty": "RSA"}}
        assert refused(tokens(provider), jwt.encode(claims, SECOND, "RS256", headers=header)) == "token_key"
        provider.status, provider.location = 302, other.url
        with pytest.raises(KeysUnavailableError):
            asyncio.run(tokens(provider).identity(other.token()))
        assert other.fetches == 0


def test_a_token_of_another_issuer_fetches_nothing(provider: IdentityProvider) -> None:
    assert refused(tokens(provider), provider.token(iss="https://elsewhere.example.org")) == "token_issuer"
    assert provider.fetches == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "RecursionError"),
        (b'{"keys": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "RecursionError"),
        (b" " * (5 << 20), "more than 1048576 bytes"),
        (b"<html>\nlogin", "JSONDecodeError"),
        (b"\xff\xfe", "UnicodeDecodeError"),
        (b"[1]", "not a set of keys"),
        (b'{"keys": null}', "not a set of keys"),
        (b'{"keys": [1, {"kty": ["RSA"], "kid": {}}]}', "not a set of keys"),
        (b'{"keys": [{"kty": "RSA", "kid": "first", "n": 5, "e": 7}]}', "not a set of keys"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_broken_answer_is_a_fetch_that_failed_in_one_line(
    provider: IdentityProvider, content: bytes, said: str
) -> None:
    provider.content = content
    with pytest.raises(KeyFetchError, match=said) as caught:
        asyncio.run(fetch_keys(provider.url, ssl.create_default_context()))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_the_whole_fetch_has_a_time_limit(provider: IdentityProvider) -> None:
    provider.trickles = True
    with pytest.raises(KeyFetchError, match=r"no complete answer within 0\.3 seconds"):
        asyncio.run(fetch_keys(provider.url, ssl.create_default_context(), limit_s=0.3))


class Keys:
    """Keys that are fetched by a clock of the test. A fetch ends as soon as `answered` is set."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.now = 0.0
        self.fetches = self.failures = 0
        self.answered = asyncio.Event()
        self.answered.set()
        self.keys = ProviderKeys(self._fetch, 300.0, self._failed, lambda: self.now)

    async def _fetch(self) -> dict[str, Any]:
        self.fetches += 1
        await self.answered.wait()
        if not self.names:
            raise KeyFetchError("away")
        return {name: object() for name in self.names}

    def _failed(self) -> None:
        self.failures += 1

    async def knows(self, *names: str) -> list[bool]:
        async with asyncio.timeout(DEADLINE_S):
            return [one is not None for one in await asyncio.gather(*map(self.keys.find, names))]


def test_many_unknown_keys_are_one_fetch_in_ten_seconds() -> None:
    async def scenario() -> None:
        provider = Keys("first")
        assert await provider.knows("first", *(f"unknown-{n}" for n in range(50))) == [True] + 50 * [False]
        assert await provider.knows("other") == [False]
        assert provider.fetches == 1
        provider.now, provider.names = 11.0, ("second",)
        assert await provider.knows("second") == [True]  # the provider has changed its key
        assert await provider.knows("first") == [False]
        assert provider.fetches == 2

    asyncio.run(scenario())


def test_keys_that_were_fetched_count_for_an_hour_while_the_provider_is_away() -> None:
    async def scenario() -> None:
        provider = Keys("first")
        assert await provider.knows("first") == [True]
        provider.names = ()
        provider.now = 3_500.0
        assert await provider.knows("first") == [True]
        assert provider.failures == 1
        provider.now = 3_601.0
        with pytest.raises(KeysUnavailableError):
            await provider.knows("first")
        provider.now, provider.names = 3_700.0, ("first",)
        assert await provider.knows("first") == [True]

    asyncio.run(scenario())


def test_a_known_key_waits_for_no_fetch_while_the_provider_fails() -> None:
    async def scenario() -> None:
        provider = Keys("first")
        assert await provider.knows("first") == [True]
        provider.names, provider.now = (), 700.0
        assert await provider.knows("first") == [True]
        provider.answered.clear()
        provider.now = 720.0
        assert await provider.knows("first") == [True]
        unknown = asyncio.create_task(provider.knows("second"))
        assert await provider.knows("first") == [True]
        assert (provider.fetches, provider.failures, unknown.done()) == (3, 1, False)
        provider.names = ("second",)
        provider.answered.set()
        assert await unknown == [True]

    asyncio.run(scenario())


def test_a_key_that_the_provider_withdrew_ends() -> None:
    async def scenario() -> None:
        provider = Keys("first")
        assert await provider.knows("first") == [True]
        provider.now, provider.names = 700.0, ("second",)
        assert await provider.knows("first") == [False]

    asyncio.run(scenario())


KITCHEN = id_of("kitchen")
TABLES = (
    f'[[groups]]\nname = "cooks"\nvaults = ["{KITCHEN}"]\n'
    f'[[users]]\nname = "eva"\nvaults = ["{id_of("observatory")}"]\ngroups = []\n'
    f'[[users]]\nname = "ben"\ngroups = ["cooks"]\n'
)


def searched(one: Gateway, token: str) -> set[str]:
    found = one.get("/v1/search?q=Saturn", headers={"Authorization": f"Bearer {token}"})
    assert found.status == 200, found.body
    results: Any = found.json["results"]
    return {str(hit["vault"]) for hit in results}


def test_a_gateway_gives_users_and_groups_of_a_provider_their_rights(
    team: Team, provider: IdentityProvider
) -> None:
    ops = User("ops", OPS.token, (), metrics=True)
    with gateway(team, [ANA, ops], tables=provider.toml + TABLES) as one:
        assert searched(one, ANA.token) == {"kitchen"}
        assert searched(one, provider.token("eva")) == {"observatory"}
        assert searched(one, provider.token("eva", groups=["cooks", "others"])) == {"kitchen", "observatory"}
        assert searched(one, provider.token("ben")) == {"kitchen"}
        assert searched(one, provider.token("stranger")) == set()
        # A name that the provider gives away is not that of a user with a token.
        assert searched(one, provider.token("ana")) == set()
        assert one.get("/metrics", headers={"Authorization": f"Bearer {provider.token('ops')}"}).status == 403
        expired = provider.token("eva", exp=int(time.time()) - 600)
        found = one.get("/v1/vaults", headers={"Authorization": f"Bearer {expired}"})
        assert (found.status, found.kind) == (401, "token")
        assert b"expired" not in found.body
        figures = samples(one.get("/metrics", ops))
        assert figures["vault_indexer_gateway_refusals_total", ("token_expired",)] == 1
        assert provider.fetches == 1
    assert "eyJ" not in one.said


@pytest.mark.long
def test_a_provider_that_is_away_costs_its_own_users_alone(team: Team, provider: IdentityProvider) -> None:
    provider.status = 500
    with gateway(team, [ANA], tables=provider.toml + TABLES) as one:
        headers = {"Authorization": f"Bearer {provider.token('eva')}"}
        found = one.get("/v1/search?q=Saturn", headers=headers)
        assert (found.status, found.kind, found.headers["retry-after"]) == (503, "identity", "5")
        assert searched(one, ANA.token) == {"kitchen"}
        assert one.get("/readyz").status == 200
        assert one.get("/v1/search?q=Saturn", headers=headers).status == 503
        assert provider.fetches == 1
