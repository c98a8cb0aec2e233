"""One daemon, several vaults: each answers, fails and comes back on its own, as the table `[vaults]` says."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from several_vaults import House, furnish, kept
from vault_at_work import is_free
from waiting import wait_until

from vault_indexer.daemon.discovery import START_FILE, read_daemon
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
    found = house.vaults()
    assert list(found) == ["broken", "garden", "gone", "held", "work"]
    own = {"name": "work", "path": str(house.vault("work")), "state": "ready"}
    assert found["work"] == own | {"notes": 2, "pending": 0, "problem": ""}
    assert str(house.vault("gone")) in found["gone"]["problem"]
    assert "a test" in found["held"]["problem"]


def test_a_search_without_a_vault_searches_all(house: House) -> None:
    found = house.hits("tomatoes in March")
    assert {("garden", "Tomatoes.md"), ("work", "Budget.md")} <= set(found)
    assert found[0] == ("garden", "Tomatoes.md")
    assert any(notice.startswith("the vault gone is not searched: ") for notice in house.notices())


def test_one_vault_is_asked_by_parameter_or_by_address(house: House) -> None:
    by_parameter = house.hits("tomatoes", "&vault=work")
    assert by_parameter[0] == ("", "Budget.md")
    by_address = house.ask("/vault/work/v1/search?q=tomatoes").data["results"]
    assert [hit["path"] for hit in by_address] == [path for _, path in by_parameter]
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


QUESTION, QUOTE = "What do the tomatoes need?", "They need sun and a trellis."


def asked(house: House, question: str, target: str = "/v1/ask") -> dict[str, Any]:
    answer = house.ask(target, "POST", body=json.dumps({"q": question, "model": False}))
    assert answer.status == 200, answer.data
    return answer.data


def cited(answer: dict[str, Any]) -> tuple[str, str | None, str]:
    """The first sentence, and vault and path of what it cites."""
    first = answer["sentences"][0]
    return first["text"], first["citations"][0].get("vault"), first["citations"][0]["path"]


def test_a_question_goes_over_all_vaults_and_each_citation_names_its_own(house: House) -> None:
    assert cited(asked(house, QUESTION)) == (QUOTE, "garden", "Tomatoes.md")
    assert cited(asked(house, "Who sends the invoice for tomatoes?"))[1:] == ("work", "Budget.md")
    only = asked(house, f"{QUESTION} vault:work")
    assert '"vault": "garden"' not in json.dumps([only["sentences"], only["passages"]])
    for target in ("/v1/ask?vault=garden", "/vault/garden/v1/ask"):
        assert cited(asked(house, QUESTION, target)) == (QUOTE, None, "Tomatoes.md")
    assert house.ask("/v1/ask?vault=nope", "POST", body='{"q": "x"}').status == 422
    stream = house.connect("/v1/ask", json.dumps({"q": QUESTION, "model": False, "stream": True}))
    events = [json.loads(line) for line in stream.read().decode().splitlines()]
    assert [one["event"] for one in events[:2]] == ["passages", "sentence"]
    assert events[1]["data"]["citations"][0]["vault"] == "garden"
    assert cited(events[-1]["data"]) == (QUOTE, "garden", "Tomatoes.md")


def test_a_folder_that_goes_is_unavailable_and_comes_back(house: House) -> None:
    away = house.sandbox.root / "away"
    house.vault("garden").rename(away)
    house.wait_for("garden", "unavailable")
    assert ("work", "Budget.md") in house.hits("tomatoes")
    away.rename(house.vault("garden"))
    house.write("garden", "Beans.md", "# Beans\n\nRunner beans climb.\n")
    house.wait_for("garden", "ready")
    wait_until(lambda: ("garden", "Beans.md") in house.hits("runner beans"), "the new note is found")
    assert house.vaults()["garden"]["notes"] == 3


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


@pytest.fixture(scope="module")
def following(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    found = furnish(tmp_path_factory.mktemp("house"))
    found.write("shed", "Lantern.md", "# Lantern\n\nThe lantern hangs in the shed.\n")
    found.configure("garden", "work")
    with kept(found):
        for name in ("garden", "work"):
            found.wait_for(name, "ready")
        yield found
    assert (found.index_dir("work") / START_FILE).exists(), "the next daemon keeps it, too"


def wait_for_vaults(following: House, *names: str) -> None:
    wait_until(lambda: following.vaults().keys() == {*names}, f"the vaults are {names}")


def tool_vaults(following: House) -> list[str]:
    """What an agent may give as the argument `vault` of the tool `search`."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
    tools = json.loads(following.connect("/mcp", body).read())["result"]["tools"]
    search = next(tool for tool in tools if tool["name"] == "search")
    found: list[str] = search["inputSchema"]["properties"]["vault"]["enum"]
    return found


def test_a_vault_is_added_and_removed_without_a_restart(following: House) -> None:
    pid = following.shared["pid"]
    assert tool_vaults(following) == ["garden", "work"]
    added = following.run(
        "vault", "add", "shed", str(following.vault("shed")), "--index-dir", str(following.index_dir("shed"))
    )
    assert added.code == 0, added.err
    assert "The running daemon indexes it now" in added.err
    following.wait_for("shed", "ready")
    assert following.vaults().keys() == {"garden", "shed", "work"}
    assert ("shed", "Lantern.md") in following.hits("lantern")
    assert following.ask("/vault/shed/v1/status").data["vault"] == str(following.vault("shed"))
    assert tool_vaults(following) == ["garden", "shed", "work"]
    assert following.announced("shed")["pid"] == pid
    following.write("shed", "Rake.md", "# Rake\n\nThe rake is new.\n")
    wait_until(lambda: ("shed", "Rake.md") in following.hits("rake"), "its changes are noticed")

    events = following.connect("/vault/shed/v1/events")
    assert events.readline().startswith(b"event: status")
    removed = following.run("vault", "remove", "shed")
    assert "The running daemon closes it now" in removed.err
    wait_for_vaults(following, "garden", "work")
    assert b"lantern" not in events.read()  # it ends
    assert following.ask("/v1/search?q=lantern&vault=shed").status == 422
    assert following.ask("/vault/shed/v1/status").status == 422
    assert {vault for vault, _ in following.hits("lantern")} <= {"garden", "work"}
    assert tool_vaults(following) == ["garden", "work"]
    wait_until(lambda: is_free(following.index_dir("shed")), "its index may be written by others")
    assert not (following.index_dir("shed") / "daemon.json").exists()
    assert not (following.index_dir("shed") / "start.json").exists()
    assert following.shared["pid"] == pid
    alone = following.run("search", "lantern", "--json", "--vault", str(following.vault("shed")))
    assert "Lantern.md" in alone.out, alone.err


def test_a_vault_that_moves_is_opened_where_it_is(following: House) -> None:
    following.write("barn", "Plough.md", "# Plough\n\nThe plough is in the barn.\n")
    following.configure("garden", "work", "barn")
    following.wait_for("barn", "ready")
    text = following.config.read_text()
    following.vault("barn").rename(following.vault("hall"))
    following.config.write_text(text.replace(f'"{following.vault("barn")}"', f'"{following.vault("hall")}"'))
    moved = str(following.vault("hall"))
    wait_until(lambda: following.vaults().get("barn", {}).get("path") == moved, "the new folder is kept")
    following.wait_for("barn", "ready")
    assert following.ask("/vault/barn/v1/status").data["vault"] == moved
    following.configure("garden", "work")
    wait_for_vaults(following, "garden", "work")


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
    following: House, broken: str | None, said: str
) -> None:
    text = following.config.read_text()
    if broken is None:
        following.config.unlink()
    else:
        following.config.write_text(broken.replace("{garden}", str(following.vault("garden"))))
    wait_until(lambda: said in str(following.ask("/v1/vaults").data["problem"]), "the problem is said")
    found = [one for one in following.notices() if "the changed configuration is not used" in one]
    assert len(found) == 1, found
    assert said in following.ask("/v1/status?vault=garden").data["detail"]
    listed = following.run("vault", "list")
    assert said in listed.err, listed.err
    assert following.vaults().keys() == {"garden", "work"}
    assert ("work", "Budget.md") in following.hits("invoice")
    following.config.write_text(text)
    wait_until(lambda: following.ask("/v1/vaults").data["problem"] == "", "the problem has ended")
    wait_until(lambda: not any("not used" in one for one in following.notices()), "nothing more is said")


def test_the_ranking_of_all_follows_the_configuration(following: House) -> None:
    text = following.config.read_text()
    following.config.write_text(text.replace("[index]", "[search]\nlimit = 1\n\n[index]"))
    wait_until(lambda: len(following.hits("tomatoes")) == 1, "the new limit counts")
    following.config.write_text(text)
    wait_until(lambda: len(following.hits("tomatoes")) > 1, "the former limit counts")


def test_without_a_vault_the_daemon_waits_for_one(following: House) -> None:
    following.run("vault", "remove", "work")
    following.run("vault", "remove", "garden")
    wait_for_vaults(following)
    answer = following.ask("/v1/search?q=tomatoes")
    assert (answer.status, "there are no vaults" in json.dumps(answer.data)) == (503, True)
    following.configure("garden", "work")
    for name in ("garden", "work"):
        following.wait_for(name, "ready")
    assert ("work", "Budget.md") in following.hits("invoice")
