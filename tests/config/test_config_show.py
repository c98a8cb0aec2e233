"""What `config show` prints, and the file that `indexer init` writes."""

from __future__ import annotations

import json
import re

import pytest
import tomli
from config_sandbox import Sandbox

from vault_indexer import config
from vault_indexer.config import Settings, as_json, commented_config, rows
from vault_indexer.config.chunking_options import OPTION_TABLES
from vault_indexer.config.fields import Trust
from vault_indexer.config.schema import SCHEMA
from vault_indexer.config.show import value_of
from vault_indexer.config.trust import TRUST
from vault_indexer.config.values import toml_text

OFFERED = {key for key in SCHEMA if TRUST[key] is not Trust.USER}
"""The keys that a vault's own file may set."""

MIXED_TABLES = {key.rpartition(".")[0] for key in OFFERED}
"""In other tables, the comment below the name of the table says whose keys they are."""


def commented_entries(text: str) -> dict[str, tuple[str, str, str]]:
    """Dotted key -> (the marks before it, its value, the comment above it)."""
    entries: dict[str, tuple[str, str, str]] = {}
    table, comment = "", ""
    for line in text.splitlines():
        if header := re.fullmatch(r"(?:## )?\[([\w.]+)\]", line):
            table, comment = header[1], ""
        elif entry := re.fullmatch(r"(##?) (\w+) = (.+)", line):
            key = f"{table}.{entry[2]}".removeprefix(".")
            assert key not in entries
            entries[key], comment = (entry[1], entry[3], comment.strip()), ""
        else:
            comment = f"{comment} {line.removeprefix('#').strip()}" if line else ""
    return entries


def test_a_row_for_every_key_in_order(sandbox: Sandbox) -> None:
    sandbox.write(vault='[files]\nexclude = ["a\\"b"]')
    shown = {row.key: row for row in rows(sandbox.load())}
    assert list(shown) == list(SCHEMA)
    row = shown["files.exclude"]
    assert (row.value, row.origin) == ('["a\\"b"]', f"file {sandbox.vault_file}")
    assert shown["chunking.max_chunk_chars"].unit == "characters"
    assert shown["index.dir"].value == '""'


def test_the_rows_are_toml_that_loads_to_the_same_settings(sandbox: Sandbox) -> None:
    loaded = sandbox.load(options={"search.weights.graph": "0.7", "files.include": ["é\n\x7f*"]})
    sandbox.write(user="".join(f"{row.key} = {row.value}\n" for row in rows(loaded)))
    assert sandbox.load().settings == loaded.settings


def test_the_json_form_is_json_with_every_key(sandbox: Sandbox) -> None:
    sandbox.write(vault="[search]\nlimit = 3")
    told = as_json(sandbox.load())
    again = json.loads(json.dumps(told))
    assert again["files"] == [str(sandbox.vault_file)]
    assert list(again["keys"]) == list(SCHEMA)
    limit = again["keys"]["search.limit"]
    assert (limit["value"], limit["origin"], limit["unit"]) == (3, f"file {sandbox.vault_file}", "hits")
    assert again["keys"]["search.recency.tiers"]["value"][0] == {"days": 7.0, "boost": 1.2}


def test_the_commented_file_changes_nothing(sandbox: Sandbox) -> None:
    sandbox.write(vault=commented_config())
    loaded = sandbox.load()
    assert loaded.settings == Settings()
    assert set(loaded.origins.values()) == {"default"}


def test_every_line_of_the_commented_file_can_be_used(sandbox: Sandbox) -> None:
    text = re.sub(r"(?m)^# (?=\w+ = )", "", commented_config())
    sandbox.write(vault=text)
    loaded = sandbox.load()
    assert loaded.settings == Settings()
    set_there = {key for key, origin in loaded.origins.items() if origin == f"file {sandbox.vault_file}"}
    assert set_there == OFFERED


def test_the_commented_file_has_every_key_with_default_unit_and_meaning() -> None:
    entries = commented_entries(commented_config())
    assert entries.keys() == SCHEMA.keys()
    for name, (marks, value, comment) in entries.items():
        key = SCHEMA[name]
        assert value == toml_text(value_of(Settings(), name)), name
        assert key.description[1:] in comment, name
        assert key.unit in comment, name
        assert (marks == "##") == (name not in OFFERED), name
        owners = comment if name.rpartition(".")[0] in MIXED_TABLES else ""
        assert ("Only your own configuration" in owners) == (name not in OFFERED and bool(owners)), name


def test_the_commented_file_fits_a_terminal_and_has_the_tables_of_a_vault() -> None:
    text = commented_config()
    assert max(map(len, text.splitlines())) <= 100
    tables = tomli.loads(text)
    assert tables.keys() == {"files", "chunking", "search", "ask", "watch"}
    assert set(OPTION_TABLES) - {"llm", "custom"} <= tables["chunking"].keys()


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        ("[search]\nlimit = 1", "1 hit"),
        ("[watch]\ndebounce_s = 0.5", "0.5 seconds"),
        ("[chunking.markdown]\nmax_chunk_size = 300", "300 words"),
        ('[chunking.markdown]\nsize_unit = "tokens"\nmax_chunk_size = 300', "300 tokens"),
        ("[index]\nnice = 5", "5"),
        ("[llm]\ntemperature = 0.0", "0.0"),
        ("[search.weights]\nvector = 2.0", "2.0"),
        ("[server]\nport = 8080", "8080"),
    ],
)
def test_a_unit_follows_its_value_where_that_reads_well(setting: str, shown: str, sandbox: Sandbox) -> None:
    sandbox.write(user=setting)
    last = [row for row in rows(sandbox.load()) if row.origin != "default" and not row.key.endswith("_unit")]
    assert [f"{row.value} {row.counted}".strip() for row in last] == [shown]


def test_every_file_that_counts_is_named_found_or_not(sandbox: Sandbox) -> None:
    sandbox.write(vault="[search]\nlimit = 3")
    loaded = sandbox.load()
    assert loaded.looked_at == (sandbox.user_file, sandbox.vault_file)
    assert loaded.files == (sandbox.vault_file,)
    assert as_json(loaded)["looked_at"] == [str(sandbox.user_file), str(sandbox.vault_file)]


def test_the_public_names() -> None:
    assert set(config.__all__) == {
        "SPEC_VERSION",
        "LoadedConfig",
        "Manifest",
        "NamedVault",
        "Row",
        "Settings",
        "StrategyInFile",
        "add_vault",
        "as_json",
        "chunking_config",
        "commented_config",
        "config_files",
        "default_index_dir",
        "differences",
        "is_vault_name",
        "load",
        "load_own",
        "missing_settings",
        "refused_in_note",
        "remove_vault",
        "rows",
        "user_config_file",
        "vault_config_file",
        "vault_name_of",
        "vaults_of",
        "with_strategy",
    }
    assert all(hasattr(config, name) for name in config.__all__)


def test_each_pattern_names_the_file_that_it_comes_from(sandbox: Sandbox) -> None:
    sandbox.write(
        user='[files]\nexclude = ["Private/"]', vault='[files]\nexclude = ["Drafts/"]\ninclude = ["a/"]'
    )
    keys = json.loads(json.dumps(as_json(sandbox.load())["keys"]))
    found = {name: (keys[name]["value"], keys[name]["origin"]) for name in ("files.exclude", "files.include")}
    assert found == {
        "files.exclude": (
            ["Private/", "Drafts/"],
            f'file {sandbox.user_file}: ["Private/"]; file {sandbox.vault_file}: ["Drafts/"]',
        ),
        "files.include": (["a/"], f"file {sandbox.vault_file}"),
    }
