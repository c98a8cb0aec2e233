"""A running daemon of several vaults follows the table `[vaults]` of the configuration."""

import json
from collections.abc import Iterator

import pytest
from several_vaults import House, furnish, kept
from vault_at_work import is_free
from waiting import wait_until

from vault_indexer.daemon.discovery import START_FILE

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    found = furnish(tmp_path_factory.mktemp("house"))
    found.write("shed", "Lantern.md", "# Lantern\n\nThe lantern hangs in the shed.\n")
    found.configure("garden", "work")
    with kept(found):
        for name in ("garden", "work"):
            found.wait_for(name, "ready")
        yield found
    assert (found.index_dir("work") / START_FILE).exists(), "the next daemon keeps it, too"


def wait_for_vaults(house: House, *names: str) -> None:
    wait_until(lambda: house.vaults().keys() == {*names}, f"the vaults are {names}")


def tool_vaults(house: House) -> list[str]:
    """What an agent may give as the argument `vault` of the tool `search`."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
    tools = json.loads(house.connect("/mcp", body).read())["result"]["tools"]
    search = next(tool for tool in tools if tool["name"] == "search")
    found: list[str] = search["inputSchema"]["properties"]["vault"]["enum"]
    return found


def test_a_vault_is_added_and_removed_without_a_restart(house: House) -> None:
    pid = house.shared["pid"]
    assert tool_vaults(house) == ["garden", "work"]
    added = house.run(
        "vault", "add", "shed", str(house.vault("shed")), "--index-dir", str(house.index_dir("shed"))
    )
    assert added.code == 0, added.err
    assert "The running daemon indexes it now" in added.err
    house.wait_for("shed", "ready")
    assert house.vaults().keys() == {"garden", "shed", "work"}
    assert ("shed", "Lantern.md") in house.hits("lantern")
    assert house.ask("/vault/shed/v1/status").data["vault"] == str(house.vault("shed"))
    assert tool_vaults(house) == ["garden", "shed", "work"]
    assert house.announced("shed")["pid"] == pid
    house.write("shed", "Rake.md", "# Rake\n\nThe rake is new.\n")
    wait_until(lambda: ("shed", "Rake.md") in house.hits("rake"), "its changes are noticed")

    events = house.connect("/vault/shed/v1/events")
    assert events.readline().startswith(b"event: status")
    removed = house.run("vault", "remove", "shed")
    assert "The running daemon closes it now" in removed.err
    wait_for_vaults(house, "garden", "work")
    assert b"lantern" not in events.read()  # it ends
    assert house.ask("/v1/search?q=lantern&vault=shed").status == 422
    assert house.ask("/vault/shed/v1/status").status == 422
    assert {vault for vault, _ in house.hits("lantern")} <= {"garden", "work"}
    assert tool_vaults(house) == ["garden", "work"]
    wait_until(lambda: is_free(house.index_dir("shed")), "its index may be written by others")
    assert not (house.index_dir("shed") / "daemon.json").exists()
    assert not (house.index_dir("shed") / "start.json").exists()
    assert house.shared["pid"] == pid
    alone = house.run("search", "lantern", "--json", "--vault", str(house.vault("shed")))
    assert "Lantern.md" in alone.out, alone.err


def test_a_vault_that_moves_is_opened_where_it_is(house: House) -> None:
    house.write("barn", "Plough.md", "# Plough\n\nThe plough is in the barn.\n")
    house.configure("garden", "work", "barn")
    house.wait_for("barn", "ready")
    text = house.config.read_text()
    house.vault("barn").rename(house.vault("hall"))
    house.config.write_text(text.replace(f'"{house.vault("barn")}"', f'"{house.vault("hall")}"'))
    moved = str(house.vault("hall"))
    wait_until(lambda: house.vaults().get("barn", {}).get("path") == moved, "the new folder is kept")
    house.wait_for("barn", "ready")
    assert house.ask("/vault/barn/v1/status").data["vault"] == moved
    house.configure("garden", "work")
    wait_for_vaults(house, "garden", "work")


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("[vaults\n", "is not valid TOML"),
        ('[vaults]\na = "{garden}"\nb = "{garden}"\n', "are the same folder"),
        ("[vaults]\n'A b' = \"{garden}\"\n", "lower-case letters"),
        (None, "does not exist"),
    ],
)
def test_a_broken_configuration_keeps_the_vaults_and_is_said(
    house: House, broken: str | None, said: str
) -> None:
    text = house.config.read_text()
    if broken is None:
        house.config.unlink()
    else:
        house.config.write_text(broken.replace("{garden}", str(house.vault("garden"))))
    wait_until(lambda: said in str(house.ask("/v1/vaults").data["problem"]), "the problem is said")
    found = [one for one in house.notices() if "the changed configuration is not used" in one]
    assert len(found) == 1, found
    assert said in house.ask("/v1/status?vault=garden").data["detail"]
    listed = house.run("vault", "list")
    assert said in listed.err, listed.err
    assert house.vaults().keys() == {"garden", "work"}
    assert ("work", "Budget.md") in house.hits("invoice")
    house.config.write_text(text)
    wait_until(lambda: house.ask("/v1/vaults").data["problem"] == "", "the problem has ended")
    wait_until(lambda: not any("not used" in one for one in house.notices()), "nothing more is said")


def test_the_ranking_of_all_follows_the_configuration(house: House) -> None:
    text = house.config.read_text()
    house.config.write_text(text.replace("[index]", "[search]\nlimit = 1\n\n[index]"))
    wait_until(lambda: len(house.hits("tomatoes")) == 1, "the new limit counts")
    house.config.write_text(text)
    wait_until(lambda: len(house.hits("tomatoes")) > 1, "the former limit counts")


def test_without_a_vault_the_daemon_waits_for_one(house: House) -> None:
    house.run("vault", "remove", "work")
    house.run("vault", "remove", "garden")
    wait_for_vaults(house)
    answer = house.ask("/v1/search?q=tomatoes")
    assert (answer.status, "there are no vaults" in json.dumps(answer.data)) == (503, True)
    house.configure("garden", "work")
    for name in ("garden", "work"):
        house.wait_for(name, "ready")
    assert ("work", "Budget.md") in house.hits("invoice")
