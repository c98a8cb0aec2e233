"""`indexer gateway vaults`, `grant` and `unpublish`, as whoever runs a gateway gives them."""

import json
import re
from pathlib import Path

import pytest
import tomli
from gateway_lab import BEN, Gateway, Team, User, administer, gateway, id_of, publish, rows_of
from vault_at_work import daemon, place
from waiting import wait_until

from vault_gateway.settings import load_gateway
from vault_indexer.errors import ConfigError

pytestmark = pytest.mark.long

EVE = User("eve", "token-of-eve", ())


@pytest.fixture(scope="module")
def own(team: Team) -> Team:
    made = Team(team.folder / "administered", team.uri, "administered")
    made.folder.mkdir()
    for keeper in ("alpha", "beta"):
        publish(made, "observatory", keeper)
    return made


def test_a_right_is_given_by_name_stored_as_id_and_ends_with_its_vault(own: Team) -> None:
    alpha, beta = id_of("observatory", "alpha"), id_of("observatory", "beta")
    with gateway(own, [EVE, BEN]) as one:
        listed = json.loads(administer(one.config, "vaults", "--json").stdout)["vaults"]
        assert [(row["id"], row["keeper"]) for row in listed] == [(alpha, "alpha"), (beta, "beta")]
        assert {(row["notes"], row["chunks"]) for row in listed} == {(2, 13)}
        shown = administer(one.config, "vaults").stdout
        assert f"{alpha}  alpha/observatory  2 notes  13 chunks  published 20" in shown

        refused = administer(one.config, "grant", "eve", "observatory")
        assert refused.returncode == 2
        assert (
            f"a name without a keeper is not enough; did you mean alpha/observatory ({alpha})"
            in refused.stderr
        )
        assert administer(one.config, "grant", "nobody", "alpha/observatory").returncode == 2
        assert (
            "has no user 'nobody'; it has eve"
            in administer(one.config, "grant", "nobody", "alpha/observatory").stderr
        )

        before = one.config.read_text("utf-8")
        given = administer(one.config, "grant", "eve", "alpha/observatory")
        assert given.stderr == f"eve may read alpha/observatory ({alpha}).\n"
        assert tomli.loads(one.config.read_text("utf-8"))["users"][0]["vaults"] == [alpha]
        assert one.config.read_text("utf-8").startswith(before[: before.index("[[users]]")])
        wait_until(lambda: one.paths(EVE, "dough"), "the right counts")

        state = own.vaults.state(alpha)
        assert state is not None
        assert rows_of(own, alpha) == 13
        removed = administer(one.config, "unpublish", alpha)
        assert removed.stderr.startswith(f"Removed alpha/observatory ({alpha}).")
        assert load_gateway(one.config).withdrawn == (alpha,)
        assert (rows_of(own, alpha), rows_of(own, beta)) == (0, 13)
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


def ids(one: Gateway) -> list[str]:
    """Of the vaults that a user who may read all gets to see."""
    listed = one.get("/v1/vaults", BEN).json["vaults"]
    assert isinstance(listed, list)
    return [row["id"] for row in listed]


def test_a_vault_that_its_keeper_removed_is_withdrawn_by_the_command_that_it_prints(
    team: Team, tmp_path: Path
) -> None:
    where = place(tmp_path)
    where.configure(
        '[index]\nworkers = 1\nbackend = "milvus"\n[embedding]\nprovider = "wordllama"\n'
        f'[milvus]\nuri = "{team.uri}"\ncollection_prefix = "left"\nkeeper = "keeper"\n'
    )
    left = Team(tmp_path, team.uri, "left")
    with daemon(where) as service:
        wait_until(lambda: service.status().pending == 0, "the vault is published")
    (state,) = left.vaults.all().values()
    done = administer(
        where.config, "unpublish", "--vault", str(where.vault), "--index-dir", str(where.index_dir)
    )
    assert done.returncode == 0, done.stderr
    assert left.vaults.all() == {}
    said = re.search(r"indexer gateway --config FILE unpublish (\S+)$", done.stderr.strip())
    assert said is not None, done.stderr
    assert said[1] == state.vault

    left.vaults.overwrite(state)  # the server is restored from a backup
    with gateway(left, [BEN]) as one, daemon(where) as service:
        wait_until(lambda: "published by another index" in service.status().detail, "the keeper is refused")
        assert ids(one) == [state.vault]
        assert administer(one.config, "unpublish", said[1]).returncode == 0
        assert load_gateway(one.config).withdrawn == (state.vault,)
        wait_until(lambda: service.status().pending == 0, "the vault is published again")
        wait_until(lambda: state.vault not in ids(one), "nobody finds the former one")
        (again,) = left.vaults.all()
        wait_until(lambda: ids(one) == [again], "it has another id")


@pytest.mark.parametrize("right", ["kitchen", "alpha/kitchen", "**", "", "KITCHEN-0123456789abcdef"])
def test_a_name_is_no_right(tmp_path: Path, right: str) -> None:
    config = tmp_path / "gateway.toml"
    config.write_text(
        f'[milvus]\nuri = "http://127.0.0.1:1"\n[[users]]\nname = "a"\ntoken_sha256 = "{"0" * 64}"\n'
        f'vaults = ["{right}"]\n'
    )
    with pytest.raises(ConfigError, match="a vault id, as written by `indexer gateway grant`"):
        load_gateway(config)
