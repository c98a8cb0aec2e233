"""Many users, tokens that rotate, and former rights that end."""

import asyncio
import time
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import pytest
from asgi_request import answering, asked

from vault_gateway.access import CurrentUsers, Users, WhileRightsHold, digest_of
from vault_gateway.commands import add_right
from vault_gateway.metrics import GatewayMetrics
from vault_gateway.server import GatewayFile, gateway_parts
from vault_gateway.settings import GatewaySettings, GatewayToken, GatewayUser, load_gateway
from vault_indexer.errors import ConfigError

HEAD = '[milvus]\nuri = "http://127.0.0.1:1"\n'


def user(number: int) -> str:
    digest = sha256(str(number).encode()).hexdigest()
    rights = ", ".join(f'"vault-{right:016x}"' for right in range(number, number + 10))
    return f'[[users]]\nname = "user {number}"\ntoken_sha256 = "{digest}"\nvaults = [{rights}]\n'


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = tmp_path_factory.mktemp("many") / "gateway.toml"
    config.write_text(HEAD + "".join(map(user, range(5_000))))
    return config


def test_five_thousand_users_load_in_a_second_of_processor_time(many: Path) -> None:
    assert many.stat().st_size > 256 << 10
    began = time.process_time()
    settings = load_gateway(many)
    users = Users(settings.users)
    assert time.process_time() - began < 1.0
    found = users.by_token("4999")
    assert found is not None
    assert found.name == "user 4999"


def test_a_wrong_token_costs_the_same_with_five_users_and_five_thousand(many: Path) -> None:
    """Counted, not timed: one look-up of the digest."""
    settings = load_gateway(many)
    looked_up: list[object] = []

    class Table(dict[str, Any]):
        def get(self, key: object, default: object = None) -> Any:
            looked_up.append(key)
            return super().get(str(key), default)

        def __iter__(self) -> Any:
            raise AssertionError("all users are looked at")

    for number in (5, 5_000):
        users = cast("Any", Users(settings.users[:number]))
        users._by_digest = Table(users._by_digest)
        assert users.by_token("wrong") is None
    assert looked_up == [digest_of("wrong")] * 2


@pytest.mark.long
def test_a_right_is_added_to_a_large_file(many: Path) -> None:
    assert add_right(many, "user 7", "new-0123456789abcdef")
    assert load_gateway(many).users[7].vaults[-1] == "new-0123456789abcdef"


def test_two_tokens_of_a_user_overlap_and_the_old_one_ends() -> None:
    old = GatewayToken(name="old", token_sha256=digest_of("one"), expires=date(2026, 11, 30))
    new = GatewayToken(name="new", token_sha256=digest_of("two"))
    ana = GatewayUser(name="ana", tokens=(old, new))
    for today, tokens in ((date(2026, 11, 30), {"one", "two"}), (date(2026, 12, 1), {"two"})):
        users = Users([ana], today=lambda today=today: today)  # type: ignore[misc]
        assert {token for token in ("one", "two", "three", "") if users.by_token(token)} == tokens


def test_a_variable_that_is_not_set_is_a_mistake_of_the_configuration(tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")
    file = tmp_path / "gateway.toml"
    file.write_text(f'{HEAD}token_env = "TEAM_TOKEN"\n{user(1)}')
    read = GatewayFile.read(file)
    missing = r"environment: milvus\.token_env = TEAM_TOKEN: is not set"
    with pytest.raises(ConfigError, match=missing), gateway_parts(read, {}):
        pass
    with gateway_parts(read, {"TEAM_TOKEN": "hush"}) as parts:
        assert parts.settings.milvus.token_env == "TEAM_TOKEN"


class File:
    """A file of rights that can be used or not, and a clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.is_usable = True
        one = GatewayUser(name="ana", token_sha256=digest_of("t"))
        self.settings = GatewaySettings(
            milvus=cast("Any", {"uri": "http://127.0.0.1:1"}), users=(one,), rights_grace_s=300
        )
        metrics, watch = GatewayMetrics(frozenset()), cast("Any", None)
        self.users = CurrentUsers(self.settings, self.read, watch, metrics, lambda: self.now)

    def read(self) -> GatewaySettings:
        if not self.is_usable:
            raise ConfigError([])
        return self.settings

    def status(self, path: str) -> int:
        return int(asyncio.run(asked(WhileRightsHold(answering(200), self.users), path))["status"])


def test_former_rights_end_after_their_grace_and_the_file_brings_them_back() -> None:
    file = File()
    file.is_usable = False
    file.users._read_again()
    file.now = 200.0
    file.users._read_again()  # another change that cannot be used gives no further grace
    assert file.status("/v1/search") == 200
    file.now = 300.0
    assert [file.status(path) for path in ("/v1/search", "/metrics")] == [503, 503]
    file.is_usable = True
    file.users._read_again()
    assert file.status("/v1/search") == 200
