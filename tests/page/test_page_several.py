"""The page of a daemon that keeps several vaults: all at once, or the one that is chosen."""

import json
import re
from collections.abc import Iterator

import pytest
from cli_sandbox import Sandbox
from page_site import WAIT_MS
from playwright.sync_api import Browser, Page, Route, expect
from waiting import PROCESS_S, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NOTES = {
    "garden": {
        "Tomatoes.md": "# Tomatoes\n\nSow the tomatoes in March. See [[Compost]].\n",
        "Compost.md": "# Compost\n",
    },
    "work": {"Budget.md": "# Budget\n\nThe invoice for tomatoes comes in March.\n"},
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the page of two vaults, with the token."""
    sandbox = Sandbox(tmp_path_factory.mktemp("several"))
    lines = []
    for vault, notes in NOTES.items():
        folder = sandbox.root / vault
        folder.mkdir()
        for name, text in notes.items():
            (folder / name).write_text(text, "utf-8")
        lines.append(f'{vault} = "{folder}"')
    config = sandbox.root / "config" / "vault-indexer" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("\n".join(["[vaults]", *lines, ""]), "utf-8")
    assert sandbox.run("start", "--wait", str(PROCESS_S)).code == 0
    try:
        wait_until(lambda: _states(sandbox) == {"ready"}, "both vaults are ready")
        yield sandbox.run("open", "--print").out.strip()
    finally:
        assert sandbox.run("stop").code == 0


def _states(sandbox: Sandbox) -> set[str]:
    listed = json.loads(sandbox.run("vault", "list", "--json").out)["vaults"]
    return {one["state"] for one in listed}


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    errors: list[str] = []
    found = browser.new_page()
    found.set_default_timeout(WAIT_MS)
    found.on("pageerror", lambda error: errors.append(str(error)))
    found.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    found.goto(address)
    yield found
    assert errors == []
    found.close()


def test_all_are_searched_and_each_hit_leads_into_its_vault(page: Page) -> None:
    expect(page.locator("#vault")).to_have_text("All vaults")
    page.locator("#q").fill("tomatoes in march")
    places = page.locator(".hit-path")
    expect(places.filter(has_text="garden: ").first).to_be_visible()
    expect(places.filter(has_text="work: ")).to_have_count(1)
    page.locator(".hit", has_text="work: ").get_by_role("button", name="Why").click()
    expect(page.locator(".hit", has_text="work: ").locator(".why")).to_contain_text("rank")
    page.locator(".hit", has_text="work: ").locator(".hit-title").click()
    expect(page.locator("main h1").first).to_have_text("Budget")
    assert "/vault/work/#/note" in page.url
    assert page.locator("#vault-choice").input_value() == "work"


def test_all_are_asked_and_each_source_leads_into_its_vault(page: Page) -> None:
    expect(page.locator("#vault")).to_have_text("All vaults")
    page.get_by_role("link", name="Ask").click()
    page.locator("#question").fill("When does the invoice for tomatoes come?")
    page.keyboard.press("Enter")
    expect(page.locator(".sentence").first).to_contain_text("The invoice for tomatoes comes in March.")
    expect(page.locator(".sources")).to_contain_text("work")
    page.evaluate("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }")
    page.get_by_role("button", name="Copy with links").click()
    assert "[work › Budget](Budget.md" in page.evaluate("globalThis.copied")
    page.locator(".cite").first.click()
    expect(page.locator("h1.note-title")).to_have_text("Budget")
    assert "/vault/work/#/note" in page.url


def test_one_is_chosen(page: Page) -> None:
    page.locator("#vault-choice").select_option("garden")
    expect(page.locator("#vault")).to_have_text("garden")
    page.locator("#q").fill("tomatoes")
    expect(page.locator(".hit-title").first).to_have_text("Tomatoes")
    expect(page.locator(".hit-title", has_text="Budget")).to_have_count(0)
    page.get_by_role("link", name="Health").click()
    expect(page.locator("main")).to_contain_text("2")
    page.locator("#vault-choice").select_option("")
    expect(page.locator("#vault")).to_have_text("All vaults")


def test_keys_of_views_that_need_a_vault_do_nothing_where_none_is_chosen(page: Page) -> None:
    expect(page.locator("#vault")).to_have_text("All vaults")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("g")
    page.keyboard.press("h")
    assert page.url.endswith("/#/search")
    expect(page.locator("#q")).to_be_visible()


def test_vaults_that_are_being_built_are_named_and_it_ends_by_itself(browser: Browser, address: str) -> None:
    """The answers are the daemon's own, but for the state and the progress of one vault."""
    page = browser.new_page()
    page.set_default_timeout(WAIT_MS)
    build: dict[str, object] = {"state": "building", "progress": None}

    def list_vaults(route: Route) -> None:
        answer = route.fetch()
        listed = answer.json()
        for one in listed["vaults"]:
            if one["name"] == "work":
                one["state"] = build["state"]
        route.fulfill(response=answer, json=listed)

    def tell_status(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), **build})

    page.route("**/v1/vaults", list_vaults)
    page.route("**/vault/work/v1/status", tell_status)
    page.goto(address)
    line, choice = page.locator("#daemon"), page.locator("#vault-choice option")
    expect(line).to_have_text("work: the index is being built")
    expect(choice).to_have_text(["All vaults", "garden", "work (building)"])
    build.update(progress={"stage": "notes", "notes": 0, "total": 16_614, "chunks": 0, "seconds": 0.5})
    expect(line).to_have_text("work: 0 of 16,614 notes")
    # Its first notes answer already.
    build.update(
        state="indexing",
        progress={"stage": "notes", "notes": 1189, "total": 16_614, "chunks": 9, "seconds": 9.5},
    )
    expect(line).to_have_text("work: 1,189 of 16,614 notes")
    expect(choice).to_have_text(["All vaults", "garden", "work (building)"])
    page.fill("#q", "tomatoes in march")
    expect(page.locator(".hit").first).to_be_visible()
    with page.expect_request(re.compile(r"/v1/search\?q=tomatoes")):  # again: there is more to find
        build.update(state="ready", progress=None)
    expect(line).to_be_hidden()
    expect(choice).to_have_text(["All vaults", "garden", "work"])
    page.close()
