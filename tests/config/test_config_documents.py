"""`config.example.toml` and the page in the docs name every key, with the default that is in force."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tomli
from config_sandbox import Sandbox

from vault_indexer.config import Settings
from vault_indexer.config.schema import SCHEMA
from vault_indexer.config.show import value_of
from vault_indexer.config.values import toml_text

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "config.example.toml"
PAGE = ROOT / "docs" / "configuration.md"


def example_entries() -> dict[str, tuple[str, str]]:
    """Dotted key -> (its text in the example, the comment above it)."""
    entries: dict[str, tuple[str, str]] = {}
    table, comment = "", ""
    for line in EXAMPLE.read_text(encoding="utf-8").splitlines():
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


def page_rows() -> dict[str, list[str]]:
    """Dotted key -> cells of its row (default, unit, why)."""
    rows = re.findall(r"(?m)^\| `([a-z_]+(?:\.[a-z_.]+)?)` \|(.+)\|$", PAGE.read_text(encoding="utf-8"))
    return {key: [cell.strip() for cell in rest.split("|")] for key, rest in rows}


def test_the_example_names_every_key_and_no_other() -> None:
    assert example_entries().keys() == SCHEMA.keys()


@pytest.mark.parametrize("name", SCHEMA)
def test_the_example_gives_default_unit_and_reason(name: str) -> None:
    value, comment = example_entries()[name]
    assert value == toml_text(SCHEMA[name].default)
    assert len(comment) > 25, "a line of why"
    assert SCHEMA[name].unit.lower() in comment.lower(), "the unit"


def test_the_example_loads_to_the_defaults(sandbox: Sandbox) -> None:
    tomli.loads(EXAMPLE.read_text(encoding="utf-8"))
    loaded = sandbox.load(config_file=EXAMPLE)
    assert loaded.settings == Settings()
    assert set(loaded.origins.values()) == {f"file {EXAMPLE}"}


def test_the_page_names_every_key_and_no_other() -> None:
    assert page_rows().keys() == SCHEMA.keys()


@pytest.mark.parametrize("name", SCHEMA)
def test_the_page_gives_default_unit_and_reason(name: str) -> None:
    default, unit, why = page_rows()[name]
    assert default == f"`{toml_text(value_of(Settings(), name))}`"
    assert unit == SCHEMA[name].unit or not SCHEMA[name].unit
    assert len(why) > 20


def test_the_messages_on_the_page_are_the_real_ones(sandbox: Sandbox) -> None:
    sandbox.write(vault='serach = { limit = 1 }\nchunking.max_chunk_chars = "big"')
    problems = sandbox.problems(env={"INDEXER_WATCH_MODE": "pol"})
    told = "\n".join(str(problem) for problem in problems).replace(str(sandbox.vault), "/notes")
    assert f"```\n{told}\n```" in PAGE.read_text(encoding="utf-8")
