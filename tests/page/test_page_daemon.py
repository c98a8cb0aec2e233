"""What the page says of the daemon in every view: a first build, an end, a restart, no answer."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli_sandbox import Sandbox
from held_build import FIRST, LATER, NOTES, Gates, date_notes
from page_site import NOTES as SITE_NOTES
from page_site import ServeVault, Site, axe_violations
from playwright.sync_api import Browser, expect
from waiting import PROCESS_S

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SUPPORT = Path(__file__).parents[1] / "support"


@pytest.fixture
def own_site(serve_vault: ServeVault) -> Iterator[Site]:
    """A vault whose daemon the test ends."""
    with serve_vault("restarted", SITE_NOTES) as found:
        yield found


@contextmanager
def held_site(browser: Browser, root: Path, gates: Gates) -> Iterator[Site]:
    """The page of a daemon that builds its first index and waits at the gates."""
    sandbox = Sandbox(root)
    for path, text in NOTES.items():
        sandbox.write(path, text)
    date_notes(sandbox.vault)
    command = [
        sys.executable,
        "-m",
        "held_daemon",
        str(sandbox.vault),
        str(sandbox.index_dir),
        str(gates.folder),
    ]
    environ = {**sandbox.environ, "PYTHONPATH": str(SUPPORT)}
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield Site(sandbox, browser)
    finally:
        gates.remove()
        process.terminate()
        process.wait(PROCESS_S)


def test_a_first_build_is_a_state_of_every_view_and_ends_by_itself(browser: Browser, tmp_path: Path) -> None:
    gates = Gates(tmp_path / "gates")
    gates.close(FIRST, LATER)
    with held_site(browser, tmp_path, gates) as site:
        context = site.context(reduced_motion="reduce")
        visits = {
            view: site.visit_in(context, f"{site.address}#/{view}") for view in ("search", "health", "graph")
        }
        pages = [visit.page for visit in visits.values()]
        for page in pages:
            expect(page.locator("#daemon")).to_contain_text("index is being built")
        search, health, graph = pages
        for page in (health, graph):
            expect(page.locator("main")).not_to_contain_text("did not work")
        search.fill("#q", "ferry at noon")
        expect(search.locator(".summary")).to_contain_text("not ready yet")

        gates.open(FIRST)
        for page in pages:
            expect(page.locator("#daemon")).to_have_text("The index is being built: 1 of 6 notes")
        expect(search.locator(".hit-title").first).to_have_text("First")
        expect(search.locator(".notices")).to_contain_text("1 of 6 notes can be searched")
        search.fill("#q", "[nothing:here]")
        expect(search.locator(".summary")).to_contain_text("Nothing is found yet")
        expect(health.locator("#state")).to_contain_text("1 of 6 notes")
        expect(health.locator("#state")).not_to_contain_text("there is no index yet")
        expect(health.locator(".histogram")).to_be_visible()
        expect(graph.locator(".graph-canvas")).to_be_visible()
        search.fill("#q", "knead the dough")
        expect(search.locator(".notices")).to_contain_text("1 of 6 notes can be searched")
        assert axe_violations(health) == []

        gates.open(LATER)
        for page in pages:
            expect(page.locator("#daemon")).to_be_hidden()
        expect(search.locator(".hit-title").first).to_have_text("Later")
        expect(search.locator(".notices")).to_have_text("")
        expect(health.locator(".pill")).to_have_text("ready")
        expect(graph.locator(".rail")).to_contain_text("6 notes in the vault")


def restart(site: Site) -> None:
    started = site.sandbox.indexer("start", "--wait", str(PROCESS_S))
    assert started.code == 0, started.err


def test_open_tabs_bookmarks_and_theme_survive_a_restart(own_site: Site) -> None:
    context = own_site.context()
    tab = own_site.visit_in(context).page
    tab.get_by_text("Settings").click()
    tab.get_by_label("Theme").select_option("dark")
    tab.keyboard.press("Escape")
    tab.fill("#q", "telescope")
    expect(tab.locator(".hit-title").first).to_have_text("Telescope")
    health = own_site.visit_in(context, f"{own_site.address}#/health").page
    expect(health.locator(".pill")).to_have_text("ready")
    bookmark = tab.url

    assert own_site.sandbox.indexer("stop").code == 0
    for page in (tab, health):
        expect(page.locator("#daemon")).to_contain_text("does not answer")
    expect(health.locator(".pill")).to_have_text("not running")
    expect(health.get_by_role("button", name="Rebuild")).to_be_disabled()

    own_site.sandbox.write("New.md", "# New telescope\n\nWritten while nothing runs: a telescope.\n")
    restart(own_site)
    expect(health.locator(".pill")).to_have_text("ready")
    for page in (tab, health):
        expect(page.locator("#daemon")).to_be_hidden()
    tab.fill("#q", "new telescope")
    expect(tab.locator(".hit-title").first).to_have_text("New telescope")
    other = own_site.visit_in(context, bookmark).page
    expect(other.locator(".hit-title").filter(has_text="Telescope").first).to_be_visible()
    assert other.evaluate("document.documentElement.dataset.theme") == "dark"


def test_no_token_goes_to_another_program_at_the_address(own_site: Site) -> None:
    visit = own_site.visit()
    port = int(own_site.url.rpartition(":")[2])
    assert own_site.sandbox.indexer("stop").code == 0
    expect(visit.page.locator("#daemon")).to_contain_text("does not answer")
    body = json.dumps({"proof": "0" * 64})
    with socket.create_server(("127.0.0.1", port)) as stranger:
        connection, _ = stranger.accept()
        with connection:
            asked = connection.recv(65536).decode()
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    assert asked.startswith("GET /v1/proof?challenge=")
    assert "authorization" not in asked.lower()
    expect(visit.page.locator(".message")).to_contain_text("has a new token")
    restart(own_site)


def test_a_daemon_that_hangs_is_said(own_site: Site) -> None:
    visit = own_site.visit()
    page = visit.page
    page.fill("#q", "kale")
    expect(page.locator(".hit-title").first).to_have_text("Kale")
    pid = int(str(own_site.sandbox.daemon_file()["pid"]))
    os.kill(pid, signal.SIGSTOP)
    try:
        page.fill("#q", "telescope")
        expect(page.locator(".hits")).to_have_class("hits old")
        expect(page.locator(".summary")).to_contain_text("has not answered")
        expect(page.locator("#daemon")).to_contain_text("does not answer")
        assert axe_violations(page) == []  # the hits until then stay readable
    finally:
        os.kill(pid, signal.SIGCONT)
    expect(page.locator(".hit-title").first).to_have_text("Telescope")
    expect(page.locator("#daemon")).to_be_hidden()
