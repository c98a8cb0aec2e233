"""Two keepers, two gateways and three users, set up by the steps of docs/gateway.md; what the page promises
is tried on both gateways."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from documented_team import USERS, DocumentedTeam
from gateway_lab import Gateway, results
from serve_api import Answer
from waiting import DEADLINE_S, wait_until

from vault_gateway.settings import load_gateway

REASON = 'the extra "milvus" is not installed: pip install "vault-indexer[milvus]"'


@pytest.fixture
def documented(tmp_path: Path) -> Iterator[DocumentedTeam]:
    for module in ("pymilvus", "milvus_lite", "prometheus_client"):
        pytest.importorskip(module, reason=REASON)
    made = DocumentedTeam(tmp_path)
    try:
        made.set_up()
        yield made
    finally:
        made.end()


def ask(team: DocumentedTeam, one: Gateway, user: str, target: str) -> Answer:
    """The answer, after a wait where the user's share is used up: these users ask more than people do."""
    answers: list[Answer] = []

    def has_share() -> bool:
        answers.append(one.get(target, team.user(user)))
        return answers[-1].status != 429

    wait_until(has_share, f"{user} has a share")
    return answers[-1]


def readable(team: DocumentedTeam, one: Gateway, user: str) -> set[str]:
    """The vaults that a user may read at a gateway, by name."""
    answer = ask(team, one, user, "/v1/vaults")
    assert answer.status == 200, answer.body
    listed = answer.json["vaults"]
    assert isinstance(listed, list)
    return {row["name"] for row in listed}


def found(team: DocumentedTeam, one: Gateway, user: str, query: str) -> set[str]:
    """The vaults that a search finds notes in."""
    return {str(hit["vault"]) for hit in results(ask(team, one, user, f"/v1/search?q={quote(query)}"))}


def wait_for_rights(team: DocumentedTeam, **rights: set[str]) -> None:
    """Until both gateways let the users read these vaults."""
    for one in team.gateways:
        for user, vaults in rights.items():
            wait_until(lambda: readable(team, one, user) == vaults, f"{user} may read {vaults}")  # noqa: B023


@pytest.mark.long
def test_the_team_of_the_page_works_as_it_says(documented: DocumentedTeam) -> None:
    each_user_sees_the_vaults_of_their_rights(documented)
    the_questions_of_the_page_are_answered(documented)
    a_change_of_rights_counts_on_both_gateways(documented)
    a_vault_that_is_unpublished_is_hidden_on_both(documented)
    a_gateway_that_ends_leaves_the_other(documented)
    a_keeper_that_was_killed_publishes_again(documented)


def each_user_sees_the_vaults_of_their_rights(team: DocumentedTeam) -> None:
    rights = {"ana": {"Home"}, "ben": {"Garden"}, "cleo": {"Home", "Work"}}
    wait_for_rights(team, **rights)
    for one in team.gateways:
        for user in USERS:
            for query in ("bread dough", "sow the tomatoes", "invoice"):
                assert found(team, one, user, query) == rights[user]
        assert ask(team, one, "ana", "/v1/search?q=tomatoes&vault=Garden").status == 404
        assert ask(team, one, "cleo", "/v1/search?q=invoice&vault=beta/Work").status == 200


def the_questions_of_the_page_are_answered(team: DocumentedTeam) -> None:
    search, vaults = (json.loads(team.run(command)) for command in team.questions)
    assert search["results"][0]["path"] == "Bread.md"
    assert [row["name"] for row in vaults["vaults"]] == ["Home"]


def a_change_of_rights_counts_on_both_gateways(team: DocumentedTeam) -> None:
    team.run("indexer gateway --config gateway.toml grant cleo beta/Garden")
    team.run(team.copy)
    wait_for_rights(team, cleo={"Home", "Garden", "Work"})
    file = team.home / "gateway.toml"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(line for line in lines if '"ben"' not in line), "utf-8")
    team.run(team.copy)
    for one in team.gateways:
        wait_until(lambda: ask(team, one, "ben", "/v1/search?q=tomatoes").status == 401, "the token is gone")  # noqa: B023
    wait_for_rights(team, ana={"Home"}, cleo={"Home", "Garden", "Work"})


def a_vault_that_is_unpublished_is_hidden_on_both(team: DocumentedTeam) -> None:
    listed = team.run("indexer gateway --config gateway.toml vaults")
    (garden,) = re.findall(r"^(garden-[0-9a-f]{16})  beta/Garden", listed, re.MULTILINE)
    team.run(f"indexer gateway --config gateway.toml unpublish {garden}")
    wait_for_rights(team, cleo={"Home", "Work"})
    for one in team.gateways:
        assert found(team, one, "cleo", "sow the tomatoes") == {"Home", "Work"}
    team.run(team.copy)
    assert load_gateway(team.home / "gateway-2.toml").withdrawn == (garden,)
    assert "beta/Garden" not in team.run("indexer gateway --config gateway.toml vaults")


def a_gateway_that_ends_leaves_the_other(team: DocumentedTeam) -> None:
    first, second = team.gateways
    first.process.send_signal(signal.SIGTERM)

    def has_ended() -> bool:
        assert found(team, second, "ana", "bread dough") == {"Home"}
        return first.process.poll() is not None

    wait_until(has_ended, "the first gateway has ended")
    assert first.process.wait(DEADLINE_S) == 0
    assert found(team, second, "ana", "bread dough") == {"Home"}


def a_keeper_that_was_killed_publishes_again(team: DocumentedTeam) -> None:
    _, second = team.gateways
    (command,) = [one for one in team.running if one.startswith("indexer serve --all-vaults")]
    team.running[command].kill()
    team.running[command].wait(DEADLINE_S)
    (team.home / "Work" / "Budget.md").write_text("# Budget\n\nThe wheelbarrow is paid.\n", "utf-8")
    assert found(team, second, "cleo", "invoice") == {"Home", "Work"}
    team.start(command)

    def has_edit() -> bool:
        hits = results(ask(team, second, "cleo", "/v1/search?q=wheelbarrow"))
        return any("wheelbarrow is paid" in str(hit["content"]) for hit in hits)

    wait_until(has_edit, "the edit is published")
