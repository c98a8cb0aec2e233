"""One daemon, several vaults: each answers, fails and comes back on its own."""

import json
from collections.abc import Iterator
from typing import Any
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
