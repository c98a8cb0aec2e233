"""`indexer open`, the files around a note, and the fields of a hit."""

from __future__ import annotations

from pathlib import Path
from urllib.request import urlopen
from xml.etree import ElementTree

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


def test_a_name_is_quoted_in_both_formats() -> None:
    from vault_indexer.cli.commands.links import dot_lines, graphml_lines
    from vault_indexer.serve.api.generated.shapes import NoteGraphJson

    name = 'a"b\\c<&>\n\x01.md'
    graph: NoteGraphJson = {
        "centres": [name],
        "nodes": [{"path": name, "title": name, "kind": "note", "distance": 0, "degree": 0}],
        "edges": [],
        "more": False,
    }
    assert '  "a\\"b\\\\c<&> \x01.md"' in "\n".join(dot_lines(graph))
    ElementTree.fromstring("\n".join(graphml_lines(graph)).encode())


def test_fields_leave_the_rest_of_a_hit_out(served: Sandbox) -> None:
    from serve_api import Api

    info = served.daemon_file()
    api = Api(int(str(info["url"]).rpartition(":")[2]), str(info["token"]), served.index_dir, served.vault)
    whole = api.ask("/v1/search?q=telescope").json["results"]
    assert isinstance(whole, list)
    assert "content" in whole[0]
    some = api.ask("/v1/search?q=telescope&fields=path,%20line").json["results"]
    assert some == [{"path": hit["path"], "line": hit["line"]} for hit in whole]
    shares = api.ask("/v1/search?q=telescope&fields=shares").json["results"]
    assert isinstance(shares, list)
    assert list(shares[0]["shares"]) == ["words", "meaning", "links"]
    assert shares[0]["shares"]["words"] == 1
    wrong = api.ask("/v1/search?q=telescope&fields=path,colour")
    assert (wrong.status, wrong.kind) == (422, "usage")
    assert b"'colour'" in wrong.body
