"""`indexer open` leads Chromium to the page through a private file."""

from pathlib import Path

import pytest
from cli_sandbox import Sandbox
from page_site import Site, Visit
from playwright.sync_api import expect
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_the_file_leads_to_the_page_with_its_token(site: Site, tmp_path: Path) -> None:
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$*" > "{opened}.part" && mv "{opened}.part" "{opened}"\n')
    browser.chmod(0o755)
    ran = Sandbox(site.sandbox.root, {**site.sandbox.variables, "BROWSER": f"{browser} %s"}).indexer("open")
    assert ran.code == 0, ran.err
    wait_until(opened.exists, "the browser was started")
    command_line = opened.read_text()
    assert site.token not in command_line
    visit: Visit = site.visit_in(site.context(), command_line)
    expect(visit.page.locator("#q")).to_be_visible()
    expect(visit.page.locator("#vault")).not_to_be_empty()
    assert site.token not in visit.page.url
    visit.type("flour")
    visit.page.locator(".hit").first.wait_for()
    assert visit.errors == []
