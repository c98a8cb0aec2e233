"""The configuration of a gateway: every mistake at once, with its key and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from vault_indexer.config.gateway import load_gateway
from vault_indexer.config.tables.identity import GatewayOidc
from vault_indexer.errors import ConfigError

DIGEST = "0123456789abcdef" * 4
LEAST = f'[milvus]\nuri = "http://127.0.0.1:19530"\n[[users]]\nname = "ana"\ntoken_sha256 = "{DIGEST}"\n'


def problems(tmp_path: Path, toml: str) -> list[str]:
    file = tmp_path / "gateway.toml"
    file.write_text(toml, "utf-8")
    with pytest.raises(ConfigError) as caught:
        load_gateway(file)
    return [f"{one.key} {one.value} {one.allowed}" for one in caught.value.problems]


def test_the_least_configuration_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text(LEAST, "utf-8")
    settings = load_gateway(file)
    assert (settings.server.host, settings.server.allowed_hosts) == ("127.0.0.1", ())
    assert (settings.users[0].vaults, settings.users[0].metrics) == ((), False)


def test_all_mistakes_are_reported_together(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        'bodys = 1\nbodies = "x"\n[milvus]\nuri = "ftp://x"\n'
        '[server]\nport = 99999\nallowed_hosts = ["a b"]\n'
        '[[users]]\nname = ""\nvaults = "*"\ntoken_sha256 = "my-secret-token"\n[[keepers]]\nname = "k"\n',
    )
    for key in (
        "bodys  unknown key; did you mean bodies?",
        'bodies "x" one of: milvus, keepers',
        "milvus.uri",
        "server.port 99999",
        "server.allowed_hosts[0]",
        "users[0].name",
        "users[0].vaults",
        "users[0].token_sha256 (hidden)",
        "keepers[0].url  is missing",
        "keepers[0].token_env  is missing",
    ):
        assert any(one.startswith(key) for one in found), (key, found)
    assert not any("my-secret-token" in one for one in found)


def test_what_does_not_fit_together_is_reported(tmp_path: Path) -> None:
    twice = LEAST + f'[[users]]\nname = "ana"\ntoken_sha256 = "{DIGEST}"\n'
    assert {one.partition(" ")[0] for one in problems(tmp_path, twice)} == {
        "users.name",
        "users.token_sha256",
    }
    assert problems(tmp_path, 'bodies = "keepers"\n' + LEAST)[0].startswith("keepers ")
    assert problems(tmp_path, LEAST + "[server]\ntimeout_s = 1\n")[0].startswith("milvus.timeout_s ")
    assert problems(tmp_path, "users = []\n[milvus]\nuri = 'http://x'\n")[0].startswith("users ")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"= 1", b"[" * 5000, b"a = 1\n" * 300_000])
def test_a_file_that_cannot_be_read_is_one_mistake(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "gateway.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_gateway(file)
    assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(ConfigError, match="cannot be read"):
        load_gateway(tmp_path / "nowhere.toml")


@pytest.mark.parametrize("claim", ["user_claim", "groups_claim"])
def test_a_claim_has_a_name(claim: str) -> None:
    provider = {"issuer": "i", "audience": "a", "jwks_url": "https://id.example.org/keys"}
    for name in ("s", "s" * 200):
        assert GatewayOidc.model_validate({**provider, claim: name}).model_dump()[claim] == name
    for name in ("", "s" * 201):
        with pytest.raises(ValidationError):
            GatewayOidc.model_validate({**provider, claim: name})
