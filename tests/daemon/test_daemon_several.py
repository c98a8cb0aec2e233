"""One daemon, several vaults: each answers, fails and comes back on its own."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from several_vaults import House, furnish, kept
from waiting import wait_until

from vault_indexer.daemon.discovery import read_daemon
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.serve.api.endpoints import SEARCH, STATUS
from vault_indexer.serve.client import DaemonClient

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Two vaults that are well, one without a folder, one whose index folder is a file, and one whose index
    this process holds."""
    found = furnish(tmp_path_factory.mktemp("house"))
    found.configure("garden", "work", "gone", "broken", "held")
    for name in ("broken", "held"):
        found.write(name, "Note.md", f"# {name}\n\nSome tomatoes.\n")
    found.index_dir("broken").parent.mkdir(parents=True)
    found.index_dir("broken").write_text("no folder")
    found.index_dir("held").mkdir()
    lock = IndexLock(found.index_dir("held"), "a test")
    lock.acquire()
    with kept(found):
        for name in ("garden", "work"):
            found.wait_for(name, "ready")
        yield found
    lock.release()


def test_each_vault_has_its_own_state(house: House) -> None:
    for name, state in {"gone": "unavailable", "broken": "unusable", "held": "locked"}.items():
        house.wait_for(name, state)
    listed = house.ask("/v1/vaults").data["vaults"]
    assert isinstance(listed, list)
    found = {one["name"]: one for one in listed}
    assert list(found) == ["broken", "garden", "gone", "held", "work"]
    assert found["work"] == {
        "name": "work",
        "path": str(house.vault("work")),
        "state": "ready",
        "notes": 2,
        "pending": 0,
        "problem": "",
    }
    assert "no such vault" in found["gone"]["problem"]
    assert "a test" in found["held"]["problem"]


def test_a_search_without_a_vault_searches_all(house: House) -> None:
    found = house.hits("tomatoes in March")
    assert {("garden", "Tomatoes.md"), ("work", "Budget.md")} <= set(found)
    assert found[0] == ("garden", "Tomatoes.md")
    notices = house.ask("/v1/search?q=tomatoes").data["notices"]
    assert isinstance(notices, list)
    assert any(notice.startswith("gone is not searched: ") for notice in notices)


def test_one_vault_is_asked_by_parameter_or_by_address(house: House) -> None:
    by_parameter = house.hits("tomatoes", "&vault=work")
    assert by_parameter[0] == ("", "Budget.md")
    answer = house.ask("/vault/work/v1/search?q=tomatoes").data["results"]
    assert isinstance(answer, list)
    assert [hit["path"] for hit in answer] == [path for _, path in by_parameter]
    assert house.ask("/v1/status?vault=garden").data["vault"] == str(house.vault("garden"))
    assert house.ask("/vault/garden/v1/verify", "POST").data["ok"] is True
    assert house.ask("/v1/verify?vault=garden", "POST").data["ok"] is True


@pytest.mark.parametrize(
    "route", ["status", "related?path=Budget", "links?view=orphans", "rebuild", "events"]
)
def test_other_questions_have_to_name_a_vault(house: House, route: str) -> None:
    answer = house.ask(f"/v1/{route}")
    assert answer.status == 422
    assert "broken, garden, gone, held, work" in json.dumps(answer.data)


@pytest.mark.parametrize(
    "name", ["nope", "../work", "work/..", "WORK", "", "a" * 5000, "%00", "'; --", "vault"]
)
def test_a_vault_that_is_not_kept_is_refused(house: House, name: str) -> None:
    for target in (f"/v1/status?vault={quote(name, safe='')}", f"/vault/{quote(name, safe='')}/v1/status"):
        assert house.ask(target).status in (404, 422), target
        assert house.ask(target, token="wrong").status == 401, target


def test_every_index_announces_the_one_daemon(house: House) -> None:
    for name in ("garden", "work"):
        info = read_daemon(house.index_dir(name))
        assert info is not None
        assert info.url == f"{house.shared['url']}/vault/{name}"
        assert (info.pid, info.token) == (house.shared["pid"], house.shared["token"])
        client = DaemonClient(info)
        assert client.ask(STATUS)["vault"] == str(house.vault(name))
        assert all("vault" not in hit for hit in client.ask(SEARCH, q="tomatoes")["results"])
    assert not (house.index_dir("held") / "daemon.json").exists()


def test_commands_reach_their_vault(house: House) -> None:
    for where in (("--vault", "work"), ("--vault", str(house.vault("work")))):
        found = house.run("status", "--json", *where)
        assert found.data["vault"] == str(house.vault("work")), found.err
        assert found.data["daemon"]["running"] is True  # type: ignore[index]
    (house.vault("garden") / ".obsidian").mkdir(exist_ok=True)
    inside = house.run("search", "tomatoes", "--json", cwd=house.vault("garden"))
    results = inside.data["results"]
    assert isinstance(results, list)
    assert {hit["path"] for hit in results} <= {"Tomatoes.md", "Compost.md"}


def test_commands_outside_of_all_vaults_mean_all(house: House) -> None:
    shown = house.run("search", "tomatoes in March")
    assert "garden: Tomatoes.md  " in shown.out
    assert "work: Budget.md  " in shown.out
    lines = house.run("search", "tomatoes in March", "--paths", "--all-vaults", cwd=house.vault("work"))
    assert "Budget.md:" in lines.out
    assert f"{house.vault('garden')}/Tomatoes.md:" in lines.out
    listed = house.run("vault", "list")
    assert "work" in listed.out
    assert "unavailable" in listed.out


def test_agents_name_a_vault(house: House) -> None:
    tools = house.agent("/mcp", "tools/list")["tools"]
    assert isinstance(tools, list)
    for tool in tools:
        schema = tool["inputSchema"]
        if tool["name"] == "fetch":  # its id begins with the name of the vault
            continue
        assert schema["properties"]["vault"]["enum"] == ["broken", "garden", "gone", "held", "work"]
        assert ("vault" in schema["required"]) == (tool["name"] not in ("search", "ask")), tool["name"]
    alone = house.agent("/vault/work/mcp", "tools/list")["tools"]
    assert isinstance(alone, list)
    assert not any("vault" in tool["inputSchema"]["properties"] for tool in alone)
    assert _found_by(house, "/mcp") == {("garden", "Tomatoes"), ("work", "Budget")}
    assert _found_by(house, "/mcp", vault="work") == {(None, "Budget")}
    assert _found_by(house, "/vault/work/mcp") == {(None, "Budget")}
    for target, arguments in (
        ("/mcp", {"path": "Budget.md"}),
        ("/mcp", {"path": "Budget.md", "vault": "garden"}),
        ("/vault/garden/mcp", {"path": "Budget.md", "vault": "work"}),
    ):
        refused = house.agent(target, "tools/call", name="read_note", arguments=arguments)
        assert refused["isError"] is True, target
    read = house.agent("/vault/work/mcp", "tools/call", name="read_note", arguments={"path": "Budget.md"})
    assert "invoice" in json.dumps(read)


def _found_by(house: House, target: str, **arguments: str) -> set[tuple[str | None, str]]:
    """Vault and path of the hits that hold the word."""
    asked = {"q": "tomatoes", "by": "note", **arguments}
    result = house.agent(target, "tools/call", name="search", arguments=asked)
    hits = json.loads(result["content"][0]["text"])["results"]  # type: ignore[index] # a list of blocks
    return {(hit.get("vault"), hit["title"]) for hit in hits if "tomatoes" in hit["text"]}


def test_a_folder_that_goes_is_unavailable_and_comes_back(house: House) -> None:
    away = house.sandbox.root / "away"
    house.vault("garden").rename(away)
    house.wait_for("garden", "unavailable")
    assert ("work", "Budget.md") in house.hits("tomatoes")
    away.rename(house.vault("garden"))
    house.write("garden", "Beans.md", "# Beans\n\nRunner beans climb.\n")
    house.wait_for("garden", "ready")
    wait_until(lambda: ("garden", "Beans.md") in house.hits("runner beans"), "the new note is found")
    listed = house.ask("/v1/vaults").data["vaults"]
    assert isinstance(listed, list)
    assert {one["notes"] for one in listed if one["name"] == "garden"} == {3}


def test_a_vault_that_appears_is_opened(house: House) -> None:
    house.write("gone", "Back.md", "# Back\n\nA note about lanterns.\n")
    house.wait_for("gone", "ready")
    assert house.hits("lanterns")[0] == ("gone", "Back.md")


def test_a_rebuild_of_one_holds_up_no_other(house: House) -> None:
    assert house.ask("/v1/rebuild?vault=work", "POST", body='{"wait": false}').status == 202
    seen = set()
    while True:
        state = house.ask("/vault/work/v1/rebuild").data
        seen.add(house.hits("tomatoes", "&vault=garden")[0])
        if state["report"] or state["error"]:
            break
    assert state["error"] is None
    assert seen == {("", "Tomatoes.md")}


def test_no_daemon_is_needed(tmp_path: Path) -> None:
    house = furnish(tmp_path)
    house.configure("garden", "work", "gone")
    found = house.run("search", "tomatoes in March", "--json")
    results = found.data["results"]
    assert isinstance(results, list)
    assert {hit["vault"] for hit in results} == {"garden", "work"}
    assert "gone is not searched" in json.dumps(found.data["notices"])
    assert house.run("related", "Budget").code == 0  # one of the vaults has it
    refused = house.run("related", "Nowhere")
    assert refused.code == 2
    assert "garden" in refused.err
    assert "--vault" in refused.err
