"""`indexer gateway unpublish`, of a keeper and of whoever runs a gateway, over a server."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from gateway_lab import BEN, Gateway, Team, User, administer, gateway
from vault_at_work import daemon, place
from waiting import wait_until

from vault_gateway.settings import load_gateway

pytestmark = pytest.mark.long


def ids(one: Gateway) -> list[object]:
    """Of the vaults that a user who may read all gets to see."""
    return [row["id"] for row in one.vaults(BEN)]


def test_a_vault_that_its_keeper_removed_is_withdrawn_by_the_command_that_it_prints(
    new_team: Callable[[], Team], tmp_path: Path
) -> None:
    where, left = place(tmp_path), new_team()
    where.configure(left.keeper("keeper"))
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
    eve = User("eve", "token-of-eve", (state.vault,))
    with gateway(left, [BEN, eve]) as one, daemon(where) as service:
        wait_until(lambda: "published by another index" in service.status().detail, "the keeper is refused")
        assert ids(one) == [state.vault]
        assert administer(one.config, "unpublish", said[1]).returncode == 0
        assert load_gateway(one.config).withdrawn == (state.vault,)
        wait_until(lambda: service.status().pending == 0, "the vault is published again")
        wait_until(lambda: state.vault not in ids(one), "nobody finds the former one")
        unmatched = ["rights that match no published vault: 1"]
        wait_until(lambda: one.get("/readyz").json["warnings"] == unmatched, "no right moves to another id")
        (again,) = left.vaults.all()
        wait_until(lambda: ids(one) == [again], "it has another id")
