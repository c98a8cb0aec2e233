"""`indexer gateway vaults`, `grant` and `unpublish`, as whoever runs a gateway gives them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import tomli
from gateway_lab import BEN, NOTES, Team, User, gateway, id_of, publish
from waiting import wait_until

from vault_indexer.config.gateway import load_gateway
from vault_indexer.errors import ConfigError

pytestmark = pytest.mark.long

EVE = User("eve", "token-of-eve", ())


def administer(config: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "vault_indexer.cli", "gateway", "--config", str(config), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def own(team: Team) -> Team:
    made = Team(team.folder / "administered", team.uri, "administered")
    made.folder.mkdir()
    for keeper in ("alpha", "beta"):
        publish(made, "kitchen", keeper)
    return made


def test_a_right_is_given_by_name_stored_as_id_and_ends_with_its_vault(own: Team) -> None:
    alpha, beta = id_of("kitchen", "alpha"), id_of("kitchen", "beta")
    with gateway(own, [EVE, BEN]) as one:
        listed = json.loads(administer(one.config, "vaults", "--json").stdout)["vaults"]
        assert [(row["id"], row["keeper"]) for row in listed] == [(alpha, "alpha"), (beta, "beta")]
        assert (
            f"{alpha}  alpha/kitchen  {len(NOTES['kitchen'])} chunks"
            in administer(one.config, "vaults").stdout
        )

        refused = administer(one.config, "grant", "eve", "kitchen")
        assert refused.returncode == 2
        assert f"a name alone names no vault; did you mean alpha/kitchen ({alpha})" in refused.stderr
        assert administer(one.config, "grant", "nobody", "alpha/kitchen").returncode == 2
        assert (
            "has no user 'nobody'; it has eve"
            in administer(one.config, "grant", "nobody", "alpha/kitchen").stderr
        )

        before = one.config.read_text("utf-8")
        given = administer(one.config, "grant", "eve", "alpha/kitchen")
        assert given.stderr == f"eve may read alpha/kitchen ({alpha}).\n"
        assert tomli.loads(one.config.read_text("utf-8"))["users"][0]["vaults"] == [alpha]
        assert one.config.read_text("utf-8").startswith(before[: before.index("[[users]]")])
        wait_until(lambda: one.paths(EVE, "dough"), "the right counts")

        state = own.vaults.state(alpha)
        assert state is not None
        removed = administer(one.config, "unpublish", alpha)
        assert removed.stderr.startswith(f"Removed alpha/kitchen ({alpha}).")
        assert load_gateway(one.config).withdrawn == (alpha,)
        wait_until(lambda: not one.paths(EVE, "dough"), "it is found no more")
        wait_until(
            lambda: one.get("/readyz").json["warnings"] == ["rights that match no published vault: 1"],
            "the right is said to match nothing",
        )
        (row,) = json.loads(administer(one.config, "vaults", "--json").stdout)["vaults"]
        assert row["id"] == beta

        own.vaults.overwrite(state)  # the server is restored from a backup
        assert len(json.loads(administer(one.config, "vaults", "--json").stdout)["vaults"]) == 2
        wait_until(lambda: one.get("/readyz").status == 200, "the gateway has read it")
        listed = one.get("/v1/vaults", BEN).json["vaults"]
        assert [row["id"] for row in listed] == [beta]  # type: ignore[attr-defined]
    assert f"the right of eve to {alpha} matches no published vault" in one.said


@pytest.mark.parametrize("right", ["kitchen", "alpha/kitchen", "**", "", "KITCHEN-0123456789abcdef"])
def test_a_name_is_no_right(tmp_path: Path, right: str) -> None:
    config = tmp_path / "gateway.toml"
    config.write_text(
        f'[milvus]\nuri = "http://127.0.0.1:1"\n[[users]]\nname = "a"\ntoken_sha256 = "{"0" * 64}"\n'
        f'vaults = ["{right}"]\n'
    )
    with pytest.raises(ConfigError, match="the id of a vault, as `indexer gateway grant` writes it"):
        load_gateway(config)
