"""`indexer open`, the files around a note, and `--paths`, `--lines` and `--null` for scripts and editors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from cli_sandbox import Sandbox
from waiting import DEADLINE_S, wait_until

pytestmark = pytest.mark.long


def test_open_prints_the_address_of_a_page_that_is_there(served: Sandbox) -> None:
    ran = served.indexer("open", "--print")
    assert ran.code == 0, ran.err
    info = served.daemon_file()
    assert ran.out == f"{info['url']}/#token={info['token']}\n"
    with urlopen(ran.out.partition("#")[0], timeout=DEADLINE_S) as answer:
        assert b"/page/app.js" in answer.read()


def test_open_starts_the_daemon_and_the_browser(copied: Sandbox, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$1" > "{opened}.part" && mv "{opened}.part" "{opened}"\n')
    browser.chmod(0o755)
    copied.variables["BROWSER"] = f"{browser} %s"
    try:
        ran = copied.indexer("open")
        assert ran.code == 0, ran.err
        assert "Started the daemon at " in ran.err
        wait_until(opened.exists, "the browser was started")
        info = copied.daemon_file()
        file = copied.index_dir / "open.html"
        assert opened.read_text() == file.as_uri()  # no token on a command line
        assert file.stat().st_mode & 0o777 == 0o600
        assert f"{info['url']}/#token={info['token']}" in file.read_text()
        opened.unlink()
        assert copied.indexer("open", "--direct").code == 0
        wait_until(opened.exists, "the browser was started again")
        assert opened.read_text() == f"{info['url']}/#token={info['token']}"
    finally:
        assert copied.indexer("stop").code == 0
    assert not file.exists()


def test_dot_and_graphml_are_what_other_programs_read(served: Sandbox) -> None:
    import networkx as nx

    dot = served.indexer("links", "Welcome", "--dot").out
    assert dot.startswith("graph vault {\n")
    assert '  "Kitchen/Bread.md" -- "Welcome.md";' in dot
    graph = nx.parse_graphml(served.indexer("links", "Welcome", "--graphml").out)
    assert graph.nodes["Welcome.md"]["title"] == "Welcome"
    assert graph.edges["Kitchen/Bread.md", "Welcome.md"]["kind"] == "link"


def run_in(sandbox: Sandbox, folder: Path, *arguments: str) -> list[str]:
    ran = sandbox.run(*arguments, *sandbox.place, cwd=folder)
    assert ran.code == 0, ran.err
    assert ran.err == ""
    return ran.out.splitlines()


def hits(sandbox: Sandbox, *query: str) -> list[tuple[str, int]]:
    results = json.loads(sandbox.indexer("search", *query, "--json").out)["results"]
    return [(hit["path"], hit["line"]) for hit in results]


def test_paths_open_from_where_one_is(served: Sandbox) -> None:
    expected = hits(served, "telescope")
    assert len({path for path, _ in expected}) > 1
    above = run_in(served, served.root, "search", "telescope", "--paths", "--nearest")
    assert above == [f"vault/{path}:{line}" for path, line in expected]
    sky = served.vault / "Sky"
    below = run_in(served, sky, "search", "telescope", "--paths", "--nearest")
    assert below[0] == "Night sky.md:3"
    assert below[1:] == [f"{served.vault}/{path}:{line}" for path, line in expected[1:]]
    for found in below:
        path, _, line = found.rpartition(":")
        assert int(line) <= len((sky / path).read_text().splitlines())


def test_the_package_is_the_command(sandbox: Sandbox) -> None:
    ran = sandbox.run_program([sys.executable, "-m", "vault_indexer", "links", "--null", "x"])
    assert ran.code == 2
    assert ran.err == "indexer: --null ends the lines of --files, --paths or --lines: add one of them\n"
