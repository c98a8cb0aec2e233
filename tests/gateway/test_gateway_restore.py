"""The data of the server are lost, and a copy of before takes their place."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from gateway_lab import BEN, Gateway, Team, administer, gateway, id_of, publish, results, rows_of
from milvus_server import MilvusServer, milvus_server
from vault_at_work import daemon, place
from waiting import wait_until

from vault_indexer.contract.requests import RebuildOptions


def while_stopped(server: MilvusServer, change: Callable[[], object]) -> None:
    """Change the data of a server that does not run."""
    server.stop()
    change()
    server.start()


def vaults_of_hits(one: Gateway, query: str, text: str) -> set[object]:
    """The vaults of the hits whose text holds this; none while the gateway does not answer."""
    answer = one.search(BEN, query)
    hits = results(answer) if answer.status == 200 else []
    return {hit["vault"] for hit in hits if text in str(hit["content"])}


@pytest.mark.long
def test_on_a_restored_server_a_withdrawn_vault_stays_hidden_and_the_keeper_catches_up(
    team_server: MilvusServer, tmp_path: Path
) -> None:
    data, backup, kitchen = tmp_path / "data", tmp_path / "backup", id_of("kitchen")
    with milvus_server(data) as server:
        team = Team(tmp_path, server.uri, "restored")
        publish(team, "kitchen")
        where = place(tmp_path)
        where.configure(team.keeper("kept"))
        with daemon(where) as service:
            wait_until(lambda: service.status().pending == 0, "the vault is published")
            while_stopped(server, lambda: shutil.copytree(data, backup))
            with gateway(team, [BEN]) as one:
                wait_until(
                    lambda: vaults_of_hits(one, "dough", "dough") == {"kitchen", "vault"}, "both are found"
                )
                assert administer(one.config, "unpublish", kitchen).returncode == 0
                assert rows_of(team, kitchen) == 0
                for number in range(2):
                    service.rebuild(lambda _: None, RebuildOptions(refit=False))
                    where.write("Bread.md", f"# Bread\n\nThe marmalade{number} is on the table.\n")
                    wait_until(
                        partial(vaults_of_hits, one, f"marmalade{number}", "marmalade"), "the edit is found"
                    )

                def restore() -> None:
                    shutil.rmtree(data)
                    shutil.copytree(backup, data)

                while_stopped(server, restore)
                assert team.vaults.state(kitchen) is not None, "the copy has the vault"
                assert rows_of(team, kitchen) == 2
                where.write("Jam.md", "# Jam\n\nThe quince is in the jar.\n")
                wait_until(lambda: vaults_of_hits(one, "quince", "quince") == {"vault"}, "an edit is found")
                assert vaults_of_hits(one, "marmalade1", "marmalade1") == {"vault"}
                assert vaults_of_hits(one, "dough", "dough") == set()
                assert one.get("/v1/note", BEN, path="Jam.md").status == 200
                assert [row["name"] for row in one.vaults(BEN)] == ["vault"]
                assert administer(one.config, "unpublish", kitchen).stderr.startswith(
                    "Removed keeper/kitchen"
                )
            assert rows_of(team, kitchen) == 0
