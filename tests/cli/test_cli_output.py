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


@pytest.mark.long
def test_inspect_all_and_by_another_strategy(sandbox: Sandbox) -> None:
    ran = sandbox.indexer("inspect", "--all", "--strategy", "none", "--json")
    notes = [json.loads(line) for line in ran.out.splitlines()]
    assert [note["path"] for note in notes] == ["Kitchen/Bread.md", "Sky/Night sky.md", "Welcome.md"]
    assert all([chunk["strategy"] for chunk in note["chunks"]] == ["none"] for note in notes)


@pytest.mark.long
def test_inspect_names_what_it_cannot_read(sandbox: Sandbox) -> None:
    ran = sandbox.indexer("inspect", "Nowhere", "../outside.md", "Welcome", "--json")
    assert ran.code == 1
    assert len(ran.out.splitlines()) == 1
    assert ran.complains("Nowhere: no such note", "../outside.md: ")


def test_rebuild_reports_what_it_did(sandbox: Sandbox) -> None:
    (sandbox.vault / "Broken.md").write_bytes(b"\xff\xfe\x00not text")
    ran = sandbox.indexer("rebuild", "--json")
    assert ran.code == 0, ran.err
    assert set(ran.data) >= {"generation", "notes", "chunks", "skipped", "seconds"}
    assert ran.data["notes"] == 3
    assert [file["path"] for file in json.loads(ran.out)["skipped"]] == ["Broken.md"]


@pytest.mark.long
def test_rebuild_tells_a_person_what_it_did(sandbox: Sandbox) -> None:
    (sandbox.vault / "Broken.md").write_bytes(b"\xff\xfe\x00not text")
    plain = sandbox.indexer("rebuild")
    assert plain.out.startswith("Indexed 3 notes in ")
    assert "Broken.md: " in plain.err


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


def test_config_show_tells_where_a_value_came_from(sandbox: Sandbox) -> None:
    sandbox.write(".indexer.toml", "[search]\nlimit = 7\n")
    shown = json.loads(sandbox.indexer("config", "show", "--json").out)
    assert shown["keys"]["search.limit"]["value"] == 7
    assert ".indexer.toml" in shown["keys"]["search.limit"]["origin"]
    assert shown["keys"]["files.include"]["origin"] == "default"
    lines = sandbox.indexer("config", "show").out.splitlines()
    assert any(line.startswith("search.limit ") and "7 " in line for line in lines)


def test_config_show_names_every_file_it_looked_at(sandbox: Sandbox) -> None:
    sandbox.write(".indexer.toml", "[search]\nlimit = 7\n")
    lines = sandbox.indexer("config", "show").out.splitlines()
    own = sandbox.root / "config" / "vault-indexer" / "config.toml"
    assert lines[1:3] == [f"  {own}  not found", f"  {sandbox.vault / '.indexer.toml'}  read"]


def test_config_show_in_a_vault_reads_the_file_of_the_vault(sandbox: Sandbox) -> None:
    sandbox.write(".indexer.toml", "[search]\nlimit = 7\n")
    code = f"import os; os.chdir({str(sandbox.vault)!r})\nfrom vault_indexer.cli.app import main\nmain()"
    shown = json.loads(sandbox.run("config", "show", "--json", code=code).out)
    assert shown["keys"]["search.limit"]["value"] == 7


def test_version(sandbox: Sandbox) -> None:
    assert sandbox.run("--version").out[0].isdigit()


def test_a_path_opens_in_obsidian_where_the_vault_is_one_of_obsidian(tmp_path: Path) -> None:
    assert path_style(tmp_path, "a b.md") == f"cyan link {(tmp_path / 'a b.md').as_uri()}"
    (tmp_path / ".obsidian").mkdir()
    assert path_style(tmp_path, "a b.md").startswith("cyan link obsidian://open?path=%2F")
    assert path_style(tmp_path, "a b.md").endswith("%2Fa%20b.md")
