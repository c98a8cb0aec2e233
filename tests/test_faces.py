"""One path through each face of the program, as a plain installation has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cli_sandbox import PLAIN_MODEL, Sandbox, make
from mcp_clients import ERAS, call, structured
from serve_api import Api
from waiting import PROCESS_S, wait_until

from vault_indexer import VaultRetriever, open_vault


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    made = replace(make(tmp_path_factory.mktemp("faces")), variables=PLAIN_MODEL)
    assert made.indexer("rebuild").code == 0
    return made


@pytest.fixture(scope="module")
def daemon(sandbox: Sandbox) -> Iterator[Sandbox]:
    started = sandbox.indexer("start", "--wait", str(PROCESS_S))
    assert started.code == 0, started.err
    yield sandbox
    assert sandbox.indexer("stop").code == 0
    assert not (sandbox.index_dir / "daemon.json").exists()


@pytest.fixture
def api(daemon: Sandbox) -> Api:
    info = daemon.daemon_file()
    return Api(int(str(info["url"]).rpartition(":")[2]), str(info["token"]), daemon.index_dir, daemon.vault)


def test_the_command_builds_and_searches_without_a_daemon(sandbox: Sandbox) -> None:
    ran = sandbox.indexer("search", "rings of Saturn", "--json", "--limit", "1")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["results"][0]["path"] == "Sky/Night sky.md"


def test_the_command_finds_through_the_daemon_what_was_just_saved(daemon: Sandbox) -> None:
    daemon.write("Sky/Comet.md", "# Comet\n\nA comet has a long bright tail. See [[Bread]].\n")
    wait_until(lambda: "Comet.md" in places(daemon), "a new note is found")
    (daemon.vault / "Sky/Comet.md").unlink()
    wait_until(lambda: "Comet.md" not in places(daemon), "a deleted note is not found any more")


def places(daemon: Sandbox) -> str:
    return daemon.indexer("search", "comet", "--fresh", "--paths", "--nearest").out


def test_http_answers_with_the_token_and_not_without(api: Api) -> None:
    answer = api.ask("/v1/search?q=ripe+starter")
    assert answer.status == 200
    assert json.loads(answer.body)["results"][0]["path"] == "Kitchen/Bread.md"
    assert json.loads(api.ask("/v1/status").body)["state"] == "ready"
    assert api.ask("/v1/search?q=starter", headers={"Authorization": ""}).status == 401


def test_the_page_and_its_scripts_are_served(api: Api) -> None:
    page = api.ask("/", headers={"Authorization": ""})
    assert page.status == 200
    assert b'type="module"' in page.body


def test_an_agent_searches_and_reads_through_the_bridge(api: Api) -> None:
    found = structured(call(api, "search", {"query": "rings of Saturn"}, "stdio", ERAS[1]))
    assert "Night sky" in json.dumps(found)


def test_python_and_llamaindex_search_without_a_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDEXER_TUNING", "search.deadline_s = 600")  # a busy machine takes long to load all
    own = make(tmp_path)
    with open_vault(own.vault, own.index_dir, index={"workers": 1}) as vault:
        assert vault.search("ripe starter").results[0].path == "Kitchen/Bread.md"
        (node, *_) = VaultRetriever(vault).retrieve("rings of Saturn")
        assert "telescope" in node.text
