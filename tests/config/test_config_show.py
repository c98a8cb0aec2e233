"""What `config show` prints, and the file that `indexer init` writes."""

import json
import re
from pathlib import Path

from config_sandbox import Sandbox
from golden_cases import check_golden, of_parts

from vault_indexer.config import Settings, missing_settings
from vault_indexer.config.documents import STARTER, as_json, rows
from vault_indexer.config.schema import SCHEMA


def test_a_row_for_every_key_in_order(sandbox: Sandbox) -> None:
    sandbox.write(vault='[files]\nexclude = ["a\\"b"]')
    shown = {row.key: row for row in rows(sandbox.load())}
    assert list(shown) == list(SCHEMA)
    row = shown["files.exclude"]
    assert (row.value, row.origin) == ('["a\\"b"]', f"file {sandbox.vault_file}")
    assert shown["chunking.max_chunk_chars"].counted == "characters"
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
    assert (limit["value"], limit["origin"], limit["unit"]) == (3, f"file {sandbox.vault_file}", "notes")
    assert again["keys"]["search.recency.tiers"]["value"][0] == {"days": 7.0, "boost": 1.2}


def test_the_starter_file_changes_nothing_and_its_lines_can_be_used(sandbox: Sandbox) -> None:
    assert len(STARTER.splitlines()) <= 25
    sandbox.write(user=STARTER)
    assert set(sandbox.load().origins.values()) == {"default", f"file {sandbox.user_file}"}
    assert sandbox.load().settings == Settings()
    sandbox.write(user=re.sub(r"(?m)^# (?=\w+ = )", "", STARTER))
    used = {key for key, origin in sandbox.load().origins.items() if origin != "default"}
    assert used == {
        *("vaults", "files.exclude", "search.limit"),
        *("embedding.provider", "llm.provider", "llm.model"),
    }


def test_values_and_missing_settings_are_shown_as_the_golden_says(sandbox: Sandbox) -> None:
    def counted(setting: str) -> str:
        sandbox.write(user=setting)
        (last,) = (
            row for row in rows(sandbox.load()) if row.origin != "default" and not row.key.endswith("_unit")
        )
        return f"{last.value} {last.counted}"

    def missing(text: str, variables: str) -> str:
        sandbox.write(user=text)
        environ = dict.fromkeys(variables.split(), "x")
        return ", ".join(one.key for one in missing_settings(sandbox.load(env=environ), environ))

    check_golden(
        Path(__file__).parent / "fixtures" / "shown.md",
        {
            "A unit follows its value where that reads well": counted,
            "What a provider cannot do without is named": of_parts(missing),
        },
    )


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
