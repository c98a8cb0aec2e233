"""`config.example.toml` and the tables of the page in the docs are made from the settings."""

import re
import runpy
from pathlib import Path

import pytest
from config_sandbox import Sandbox

from vault_indexer.config import Settings
from vault_indexer.config.schema import SCHEMA
from vault_indexer.config.values import toml_text

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "config.example.toml"
PAGE = ROOT / "docs" / "configuration.md"
GENERATOR = runpy.run_path(str(ROOT / ".ci" / "configuration.py"))
example_config, page_with_sections = GENERATOR["example_config"], GENERATOR["page_with_sections"]
IN_EXAMPLE = {key.name for key in GENERATOR["example_keys"]()}


def example_entries() -> dict[str, tuple[str, str]]:
    """Dotted key -> (its text in the example, the comment above it)."""
    entries: dict[str, tuple[str, str]] = {}
    table, comment = "", ""
    for line in example_config().splitlines():
        if line.startswith("#"):
            comment += " " + line.removeprefix("#").strip()
        elif header := re.fullmatch(r"\[([\w.]+)\]", line):
            table, comment = header[1] + ".", ""
        elif entry := re.fullmatch(r"(\w+) = (.+)", line):
            entries[table + entry[1]], comment = (entry[2], comment.strip()), ""
        else:
            assert not line, line
            comment = ""
    return entries


def test_sixteen_keys_are_for_everybody_and_some_thirty_more_are_advanced() -> None:
    """Those of a Milvus server concern nobody who has none, and are public nowhere."""
    own = [key for key in SCHEMA.values() if not key.name.startswith(("chunking.", "milvus."))]
    assert sum(key.is_public for key in SCHEMA.values() if not key.name.startswith("chunking.")) == 16
    assert len(own) <= 55


def test_make_docs_writes_the_page_and_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    without_rows = re.sub(r"(?m)^\| `(search|milvus).*\n", "", PAGE.read_text(encoding="utf-8"))
    (tmp_path / PAGE.relative_to(ROOT)).write_text(without_rows, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    GENERATOR["main"]()
    for file in (PAGE, EXAMPLE):
        written = (tmp_path / file.relative_to(ROOT)).read_text(encoding="utf-8")
        assert written == file.read_text(encoding="utf-8"), "run `make docs`"


def test_the_example_has_the_public_keys_then_the_strategies() -> None:
    entries = list(example_entries())
    assert set(entries) == IN_EXAMPLE
    public = [SCHEMA[name].is_public for name in entries]
    assert public == sorted(public, reverse=True)
    assert example_config().partition("\n[chunking]")[0].count("\n") < 120


def test_the_example_gives_default_unit_bounds_and_reason() -> None:
    for name, (value, comment) in example_entries().items():
        key = SCHEMA[name]
        assert value == toml_text(key.default)
        assert key.description[1:] in comment
        assert comment.endswith(f"{key.allowed})"), name
        assert key.unit in comment


def test_the_example_loads_to_the_defaults(sandbox: Sandbox, tmp_path: Path) -> None:
    example = tmp_path / "example.toml"
    example.write_text(example_config(), encoding="utf-8")
    loaded = sandbox.load(config_file=example)
    assert loaded.settings == Settings()
    assert {name for name, origin in loaded.origins.items() if origin != "default"} == IN_EXAMPLE


BLOCKS = "text\n<!-- begin: keys watch -->\nold\n<!-- end: keys watch -->\nmore\n"


def test_a_key_without_a_table_on_the_page_is_named() -> None:
    with pytest.raises(ValueError, match="no table for vault: add <!-- begin: keys vault -->"):
        GENERATOR["page_with_tables"](BLOCKS, SCHEMA.values())


@pytest.mark.posix("paths with slashes")
def test_the_messages_on_the_page_are_the_real_ones(sandbox: Sandbox) -> None:
    sandbox.write(vault='serach = { limit = 1 }\nchunking.max_chunk_chars = "big"')
    problems = sandbox.problems(env={"INDEXER_WATCH_MODE": "pol"})
    told = "\n".join(str(problem) for problem in problems).replace(str(sandbox.vault), "/notes")
    assert f"```\n{told}\n```" in PAGE.read_text(encoding="utf-8")


def test_a_strategy_without_a_section_gets_one() -> None:
    page = "## Keys\n\n#### chunking.contextual\n\n<!-- begin: keys chunking.contextual -->\n"
    found = page_with_sections(page)
    assert found.count("#### chunking.word\n\n") == 1
    assert found.index("<!-- end: keys chunking.custom -->\n") < found.index("#### chunking.contextual\n")
    assert page_with_sections(found) == found
