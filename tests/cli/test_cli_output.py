"""`inspect`, `export`, `verify`, `rebuild`, `config show`, the help: the exact outside contract."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_sandbox import Sandbox

from vault_indexer.cli.output.columns import path_style


def test_inspect_needs_no_index_and_keeps_the_contract(sandbox: Sandbox) -> None:
    ran = sandbox.indexer("inspect", "Bread", "Welcome", "--json")
    assert ran.code == 0, ran.err
    bread, welcome = (json.loads(line) for line in ran.out.splitlines())
    assert set(bread) >= {
        *("path", "title", "language", "frontmatter", "aliases", "tags", "headings", "links", "blocks"),
        "chunks",
    }
    assert bread["aliases"] == ["Sourdough"]
    assert bread["headings"][1] == {"level": 2, "text": "Kneading", "line": 9}
    assert bread["blocks"] == [{"id": "rest", "line": 11}]
    text = (sandbox.vault / "Kitchen/Bread.md").read_text()
    for chunk in bread["chunks"]:
        assert text[chunk["start_pos"] : chunk["end_pos"]] in chunk["content"]
        assert chunk["overlap"] == ""
    assert [(link["target"], link["resolved"]) for link in welcome["links"]] == [
        ("Bread", "Kitchen/Bread.md"),
        ("Night sky", "Sky/Night sky.md"),
        ("Nowhere", None),
    ]
    assert not sandbox.index_dir.exists()


def test_rebuild_reports_what_it_did(sandbox: Sandbox) -> None:
    (sandbox.vault / "Broken.md").write_bytes(b"\xff\xfe\x00not text")
    ran = sandbox.indexer("rebuild", "--json")
    assert ran.code == 0, ran.err
    assert set(ran.data) >= {"generation", "notes", "chunks", "skipped", "seconds"}
    assert ran.data["notes"] == 3
    assert [file["path"] for file in json.loads(ran.out)["skipped"]] == ["Broken.md"]


@pytest.mark.long
def test_export_is_sorted_json_lines_and_the_same_twice(indexed: Sandbox) -> None:
    first = indexed.indexer("export")
    assert first.code == 0
    assert all(json.loads(line) for line in first.out.splitlines())
    assert indexed.indexer("export").out == first.out


@pytest.mark.long
def test_export_without_an_index_says_what_to_do(sandbox: Sandbox) -> None:
    ran = sandbox.indexer("export")
    assert ran.code == 3
    assert ran.complains("indexer rebuild")


def test_a_path_opens_in_obsidian_where_the_vault_is_one_of_obsidian(tmp_path: Path) -> None:
    assert path_style(tmp_path, "a b.md") == f"cyan link {(tmp_path / 'a b.md').as_uri()}"
    (tmp_path / ".obsidian").mkdir()
    assert path_style(tmp_path, "a b.md").startswith("cyan link obsidian://open?path=%2F")
    assert path_style(tmp_path, "a b.md").endswith("%2Fa%20b.md")
