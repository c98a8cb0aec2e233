"""What `config show` prints, and the file that `indexer init` writes."""

from __future__ import annotations

import json
import re

import tomli
from config_sandbox import Sandbox

from vault_indexer import config
from vault_indexer.config import Settings, as_json, commented_config, rows
from vault_indexer.config.chunking import OPTION_TABLES
from vault_indexer.config.schema import SCHEMA
from vault_indexer.config.trust import TRUST, Trust

OFFERED = {
    key
    for key, rule in TRUST.items()
    if key in SCHEMA
    and rule is not Trust.USER
    and not key.startswith(tuple(f"chunking.{name}." for name in OPTION_TABLES))
}
"""What `indexer init` offers: all a vault may set but the options of single strategies."""


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


def test_the_commented_file_says_why_and_fits_a_terminal() -> None:
    text = commented_config()
    plain = " ".join(line.removeprefix("# ") for line in text.splitlines())
    for key in OFFERED:
        assert SCHEMA[key].description[1:] in plain, key
    assert not re.search(r"\b(provider|url|api_key_env|dir|port) = ", text)
    assert max(map(len, text.splitlines())) <= 100
    assert tomli.loads(text).keys() == {"files", "chunking", "search", "watch"}


def test_the_public_names() -> None:
    assert set(config.__all__) == {
        "SPEC_VERSION",
        "LoadedConfig",
        "Manifest",
        "Row",
        "Settings",
        "as_json",
        "chunking_config",
        "commented_config",
        "config_files",
        "default_index_dir",
        "differences",
        "load",
        "refused_in_note",
        "rows",
        "user_config_file",
        "vault_config_file",
    }
    assert all(hasattr(config, name) for name in config.__all__)
