"""The states of the daemon as the Obsidian plugin shows them, and how it starts one."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cli_sandbox import Sandbox
from playwright.sync_api import BrowserContext, Locator, expect
from plugin_page import Bundle, PluginPage, open_page
from processes import processes_below
from vault_daemon import daemon_of, serving
from waiting import wait_until


def state(plugin: PluginPage) -> Locator:
    return plugin.page.locator(".vault-indexer-prompt .vault-indexer-state")


def rows(plugin: PluginPage) -> Locator:
    return plugin.page.locator(".vault-indexer-prompt .vault-indexer-row.mod-complex")


@contextmanager
def stopped_workers(pid: int) -> Iterator[None]:
    """The daemon answers, and nothing is indexed."""
    workers = list(processes_below(pid))
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    try:
        yield
    finally:
        for worker in workers:
            os.kill(worker, signal.SIGCONT)


def test_without_the_program_the_commands_to_copy_are_shown(
    context: BrowserContext, bundle: Bundle, small: Sandbox
) -> None:
    plugin = open_page(context, bundle, small)
    plugin.open_search().press_sequentially("bread")
    expect(state(plugin)).to_contain_text("not set up for this vault")
    expect(state(plugin)).to_have_attribute("data-state", "missing")
    state(plugin).get_by_role("button", name="Copy command").click()
    expect(plugin.page.locator(".notice")).to_have_text("Copied")
    copied = plugin.evaluate("() => navigator.clipboard.readText()")
    assert f"indexer start --vault {small.vault}" in copied
    assert plugin.requests == []
    assert plugin.started == []


def test_a_vault_without_an_index_gets_one_by_one_click(
    context: BrowserContext, bundle: Bundle, small: Sandbox
) -> None:
    plugin = open_page(context, bundle, small)
    programs = Path(sys.executable).parent
    plugin.evaluate("path => { window.hostMachine.env.PATH = path; }", f"relative:{small.root}:{programs}/")
    plugin.open_search().press_sequentially("zymurgist")
    expect(state(plugin)).to_contain_text("This vault has no index yet")
    steps = state(plugin).locator(".vault-indexer-step")
    expect(steps).to_have_text(["Program: there", "Index of this vault: missing", "Daemon: missing"])
    assert plugin.started == []
    try:
        state(plugin).get_by_role("button", name="Allow and start").click()
        expect(rows(plugin).first).to_contain_text("zymurgist")
        expect(state(plugin)).to_be_hidden()
        expect(plugin.page.locator(".vault-indexer-index-line")).to_have_text("4 notes, up to date")
        assert plugin.started == [[f"{programs}/indexer", "start", "--vault", str(small.vault)]]
    finally:
        small.run("stop", "--vault", str(small.vault))


def test_the_daemon_is_started_if_the_user_allows_it_and_a_failure_is_explained(
    context: BrowserContext, bundle: Bundle, small: Sandbox
) -> None:
    with daemon_of(small):
        pass
    plugin = open_page(context, bundle, small)
    plugin.open_search().press_sequentially("zymurgist")
    expect(state(plugin)).to_contain_text("The daemon is not running")
    assert plugin.started == []
    small.write(".indexer.toml", "[search]\nlimit = 'no'\n")
    state(plugin).get_by_role("button", name="Allow and start").click()
    expect(state(plugin)).to_contain_text("The daemon did not start")
    expect(state(plugin)).to_contain_text("limit")
    small.write(".indexer.toml", "")
    try:
        state(plugin).get_by_role("button", name="Start the daemon").click()
        expect(rows(plugin).first).to_contain_text("zymurgist")
        expect(state(plugin)).to_be_hidden()
        assert len(plugin.started) == 2
        assert Path(plugin.started[0][0]).is_absolute()
        stored = plugin.evaluate("() => Object.entries({ ...localStorage })")
        assert json.loads(dict(stored)["vault-indexer"])["mayStart"] is True
        assert "mayStart" not in dict(stored).get("data.json", "")
    finally:
        small.run("stop", "--vault", str(small.vault))


def test_a_daemon_with_another_port_and_token_is_found_again(
    context: BrowserContext, bundle: Bundle, small: Sandbox
) -> None:
    plugin = open_page(context, bundle, small)
    with daemon_of(small):
        plugin.search("zymurgist")
    reads = len(plugin.evaluate("() => window.host.reads"))
    plugin.page.keyboard.type(" waits")
    expect(state(plugin)).to_contain_text("not running")
    with daemon_of(small):
        expect(rows(plugin).first).to_be_visible()
        expect(state(plugin)).to_be_hidden()
    files = plugin.evaluate("() => window.host.reads")
    assert len(files) > reads
    names = {Path(file).name for file in files if Path(file).parent.name != "daemons"}
    assert names == {"daemon.json", "start.json"}


def test_a_refused_token_is_read_again(plugin: PluginPage) -> None:
    plugin.search("zymurgist")
    reads = len(plugin.evaluate("() => window.host.reads"))
    plugin.evaluate(
        """() => {
            const ask = window.hostRequest;
            window.refused = [];
            window.hostRequest = async (url, method, headers, body) => {
                if (window.refused.length > 0) return ask(url, method, headers, body);
                const answer = await ask(url, method, { ...headers, Authorization: "Bearer old" }, body);
                window.refused.push(answer.status);
                return answer;
            };
        }"""
    )
    plugin.page.keyboard.press("Space")
    plugin.page.keyboard.type("dawn")
    plugin.answered("zymurgist dawn")
    assert set(plugin.evaluate("() => window.refused")) == {401}
    assert len(plugin.evaluate("() => window.host.reads")) > reads
    expect(state(plugin)).to_be_hidden()


def test_the_first_build_shows_its_progress(context: BrowserContext, bundle: Bundle, small: Sandbox) -> None:
    for number in range(600):
        small.write(f"Log/{number}.md", f"# Day {number}\n\n" + f"The ferry left at {number}. " * 60)
    plugin = open_page(context, bundle, small)
    with serving(small) as daemon:
        wait_until(lambda: daemon.status()["progress"] or daemon.status()["state"] == "ready", "a build")
        with stopped_workers(daemon.pid):
            assert daemon.status()["state"] == "building"
            plugin.open_search()
            expect(state(plugin)).to_contain_text("The first index is being built")
            expect(state(plugin)).to_contain_text("of 604 notes")
            expect(state(plugin).get_by_role("progressbar")).to_be_visible()
        plugin.page.keyboard.type("zymurgist")
        expect(rows(plugin).first).to_contain_text("zymurgist")
        expect(state(plugin)).to_be_hidden()


def test_paused_pending_and_degraded_are_shown(
    context: BrowserContext, bundle: Bundle, small: Sandbox
) -> None:
    plugin = open_page(context, bundle, small)
    place = ("--vault", str(small.vault))
    with serving(small) as daemon:
        wait_until(lambda: daemon.status()["state"] == "ready", "the index")
        assert small.run("pause", *place).code == 0
        small.write("Places/Ferry.md", "# Ferry\n\nThe ferry has a quokka aboard.\n")
        plugin.open_search().press_sequentially("quokka")
        expect(state(plugin)).to_contain_text("Indexing is paused")
        expect(state(plugin)).to_contain_text("1 change pending")
        state(plugin).get_by_role("button", name="Resume indexing").click()
        expect(rows(plugin).first).to_contain_text("quokka")
        expect(state(plugin)).to_be_hidden()

        with stopped_workers(daemon.pid):
            small.write("Places/Ferry.md", "# Ferry\n\nThe ferry has a wombat aboard.\n")
            wait_until(lambda: daemon.status()["pending"], "the change")
            plugin.page.locator(".vault-indexer-prompt input.prompt-input").fill("wombat")
            expect(state(plugin)).to_contain_text("1 change being indexed")
        expect(rows(plugin).first).to_contain_text("wombat")
        expect(state(plugin)).to_be_hidden()

        away = small.vault.rename(small.vault.with_name("away"))
        wait_until(lambda: daemon.status()["state"] == "degraded", "that the vault is gone")
        plugin.page.keyboard.press("Escape")
        plugin.open_search()
        expect(state(plugin)).to_have_attribute("data-state", "degraded")
        expect(state(plugin).locator(".vault-indexer-state-detail")).to_contain_text(str(small.vault))
        away.rename(small.vault)
        expect(state(plugin)).to_be_hidden()
