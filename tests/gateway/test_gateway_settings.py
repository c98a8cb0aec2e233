"""The configuration of a gateway: every mistake at once, with its key and what is allowed."""

import json
from datetime import date
from operator import attrgetter
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from pydantic import ValidationError

from vault_gateway.settings import MAX_GATEWAY_BYTES, GatewayOidc, GatewaySettings, load_gateway
from vault_indexer.errors import ConfigError

DIGEST = "0123456789abcdef" * 4
LEAST = f'[milvus]\nuri = "http://127.0.0.1:19530"\n[[users]]\nname = "ana"\ntoken_sha256 = "{DIGEST}"\n'


def problems(tmp_path: Path, toml: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, toml)
    return [f"{one.key} {one.value} {one.allowed}" for one in caught.value.problems]


def loaded(tmp_path: Path, toml: str) -> GatewaySettings:
    file = tmp_path / "gateway.toml"
    file.write_text(toml, "utf-8")
    return load_gateway(file)


def test_the_least_configuration_is_closed(tmp_path: Path) -> None:
    settings = loaded(tmp_path, LEAST)
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
        *("bodys  unknown key; did you mean bodies?", 'bodies "x" one of: milvus, keepers', "milvus.uri"),
        *("server.port 99999", "server.allowed_hosts[0]", "users[0].name", "users[0].vaults"),
        *("users[0].token_sha256 (hidden)", "keepers[0].url  is missing", "keepers[0].token_env  is missing"),
    ):
        assert any(one.startswith(key) for one in found), (key, found)
    assert not any("my-secret-token" in one for one in found)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"# \xff", "is not UTF-8 text (byte 2)"),
        (b"= 1", "is not valid TOML: "),
        (b"[" * 5000, "is "),
        (b"a = 1\n" * 300_000, "is not valid TOML: "),
    ],
    ids=["encoding", "syntax", "nesting", "a key again and again"],
)
def test_a_file_that_cannot_be_read_is_one_mistake(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "gateway.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_gateway(file)
    (problem,) = caught.value.problems
    assert (problem.key, problem.source) == ("file", f"file {file}")
    assert problem.allowed.startswith(said)
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


PROVIDER = 'oidc = { issuer = "i", audience = "a", jwks_url = "https://id.example.org/keys" }\n'


def with_value(key: str, number: str) -> str:
    """A configuration in which the key has this number."""
    table = LEAST.replace("[milvus]\n", PROVIDER + "[milvus]\n")
    if key.startswith("milvus."):
        return table.replace("[milvus]\n", f"[milvus]\n{key.removeprefix('milvus.')} = {number}\n")
    if key.startswith("oidc."):
        return table.replace('"a", ', f'"a", {key.removeprefix("oidc.")} = {number}, ')
    return f"{key} = {number}\n{table}"


TOKEN = f'{{ name = "t", token_sha256 = "{DIGEST[::-1]}" }}'
USER = f'[milvus]\nuri = "http://m"\n[[users]]\nname = "ana"\ntoken_sha256 = "{DIGEST}"\n'
SHORT = '[milvus]\nuri = "http://m"\n[[users]]\nname = "ana"\n'


def test_numbers_have_bounds_and_each_contradiction_is_told(tmp_path: Path) -> None:
    names = {"USER;": USER, "SHORT;": SHORT, "PROVIDER;": PROVIDER, "TOKEN": TOKEN}

    def said(toml: str) -> str:
        for name, text in names.items():
            toml = toml.replace(name, text)
        try:
            return f"loaded, {loaded(tmp_path, toml).milvus.uri}"
        except ConfigError as error:
            return " / ".join(f"{one.key} {one.value} {one.allowed}" for one in error.problems)

    def bounds(key: str, *numbers: str) -> str:
        read = []
        for number in filter(None, numbers):
            try:
                read.append(str(attrgetter(key)(loaded(tmp_path, with_value(key, number)))))
            except ConfigError as error:
                assert error.problems[0].key == key
                read.append("refused")
        return ", ".join(read)

    sections = {"Bounds": of_parts(bounds), "": said}
    check_golden(Path(__file__).parent / "fixtures" / "settings.md", sections)


def test_the_digests_of_a_user_have_their_last_days(tmp_path: Path) -> None:
    token = TOKEN.replace(" }", ", expires = 2026-12-31 }")
    (user,) = loaded(tmp_path, f"{SHORT}tokens = [{token}]\n").users
    assert user.digests == ((DIGEST[::-1], date(2026, 12, 31)),)
    assert loaded(tmp_path, USER).users[0].digests == ((DIGEST, None),)
    three = ", ".join(TOKEN for _ in range(3))
    assert problems(tmp_path, f"{SHORT}tokens = [{three}]\n")[0].startswith("users[0].tokens ")
    for expires, key in (("2026-13-01", "file "), ('"soon"', "users[0].tokens[0].expires ")):
        wrong = TOKEN.replace(" }", f", expires = {expires} }}")
        assert problems(tmp_path, f"{SHORT}tokens = [{wrong}]\n")[0].startswith(key)


@pytest.mark.parametrize("right", ["kitchen", "alpha/kitchen", "**", "", "KITCHEN-0123456789abcdef"])
def test_a_name_is_no_right(tmp_path: Path, right: str) -> None:
    (problem,) = problems(tmp_path, f'{LEAST}vaults = ["{right}"]\n')
    assert problem.startswith("users[0].vaults[0] ")
    assert "a vault id, as written by `indexer gateway grant`" in problem


@pytest.mark.parametrize(
    ("networks", "wrong"),
    [
        (["10.1.2.0/24"], None),
        (["10.1.2.3", "::1"], None),
        (["0.0.0.0/1", "::/1"], None),
        (["0.0.0.0/0"], "proxy.addresses"),
        (["10.1.2.3", "::/0"], "proxy.addresses"),
        (["0.0.0.0/1", "128.0.0.0/1"], "proxy.addresses"),
        (["128.0.0.0/2", "::1", "0.0.0.0/1", "192.0.0.0/2"], "proxy.addresses"),
        (["8000::/1", "10.1.2.3", "::/1"], "proxy.addresses"),
        (["::1", "x"], "proxy.addresses[1]"),
    ],
)
def test_the_addresses_of_a_proxy_are_not_all_there_are(
    tmp_path: Path, networks: list[str], wrong: str | None
) -> None:
    toml = f'proxy = {{ user_header = "X-User", addresses = {json.dumps(networks)} }}\n{SHORT}'
    if wrong is None:
        proxy = loaded(tmp_path, toml).proxy
        assert proxy is not None
        assert proxy.addresses == tuple(networks)
    else:
        (problem,) = problems(tmp_path, toml)
        assert problem.startswith(f"{wrong} ")
        assert problem.endswith(" an address, or a network such as 10.1.2.0/24; not the whole address space")


def test_a_file_has_64_mb_at_most(tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    with file.open("wb") as opened:
        opened.truncate(MAX_GATEWAY_BYTES + 1)
    with pytest.raises(ConfigError, match="file: is larger than 67108864 bytes"):
        load_gateway(file)
