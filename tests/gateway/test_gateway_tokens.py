"""Tokens that a gateway needs itself: they stand in the environment, and the configuration names them."""

from pathlib import Path

import pytest

from vault_gateway.server import GatewayFile, gateway_parts
from vault_indexer.errors import ConfigError


def test_a_variable_that_is_not_set_is_a_mistake_of_the_configuration(tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")
    file = tmp_path / "gateway.toml"
    file.write_text(
        '[milvus]\nuri = "http://127.0.0.1:19530"\ntoken_env = "TEAM_TOKEN"\n'
        f'[[users]]\nname = "ana"\ntoken_sha256 = "{"0" * 64}"\n'
    )
    read = GatewayFile.read(file)
    with (
        pytest.raises(ConfigError, match=r"environment: milvus\.token_env = TEAM_TOKEN: is not set"),
        gateway_parts(read, {}),
    ):
        pass
    with gateway_parts(read, {"TEAM_TOKEN": "hush"}) as parts:
        assert parts.settings.milvus.token_env == "TEAM_TOKEN"
