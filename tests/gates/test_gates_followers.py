"""What has to follow when a part of the program grows, and would be forgotten in silence."""

from __future__ import annotations

import hashlib
import re
from typing import get_args

import pytest
from python_source import ROOT

from vault_indexer.config.tables.chunking_options import StrategyName
from vault_indexer.search.query import OPERATORS, parse_query

PLUGIN = ROOT / "src" / "obsidian-plugin"
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text("utf-8")
CHUNKING = (ROOT / "docs" / "chunking.md").read_text("utf-8")
QUERIES = (ROOT / "docs" / "query-language.md").read_text("utf-8")
VALUES = {
    "before": "2026-02-01",
    "after": "7d",
    "lang": "es",
    "kind": "pdf",
    "level": "child",
    "task-due": "<2026-02",
}
TYPES_ONLY = PLUGIN / "src" / "generated"
"""`make api-types` writes it; the digest of the bundle leaves it out."""
WITHOUT_TABLE = {"header_based", "none"}
"""The default, whose options stand in `[chunking]` itself, and the one without options."""


@pytest.mark.parametrize("name", sorted(set(get_args(StrategyName)) - WITHOUT_TABLE))
def test_the_options_of_a_strategy_have_a_section_of_their_own(name: str) -> None:
    assert f"#### chunking.{name}\n" in CONFIGURATION, f"run `make docs`: {name}"


@pytest.mark.parametrize("name", get_args(StrategyName))
def test_every_strategy_is_explained(name: str) -> None:
    assert re.search(rf"`{name}`", CHUNKING)


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_that_is_completed_is_read_and_documented(name: str) -> None:
    query = parse_query(f"{name}:{VALUES.get(name, 'word')}")
    assert query.conditions
    assert f"{name}:" in QUERIES


def test_the_bundle_of_the_plugin_was_built_from_its_sources() -> None:
    """As `esbuild.config.mjs` digests them; `npm run build` in the plugin's folder builds the bundle."""
    digest = hashlib.sha256()
    for source in sorted((PLUGIN / "src").iterdir()):
        if source != TYPES_ONLY:
            digest.update(f"{source.name}\n".encode() + source.read_bytes())
    first = (PLUGIN / "generated" / "main.js").read_text("utf-8").partition("\n")[0]
    assert first.endswith(digest.hexdigest()), "run `npm run build` in src/obsidian-plugin"


def test_what_the_digest_of_the_bundle_leaves_out_has_types_only() -> None:
    text = "".join(file.read_text("utf-8") for file in TYPES_ONLY.iterdir())
    statements = re.findall(r"^\S.*", text, re.MULTILINE)
    types = re.compile(r"//|/\*|export (interface|type) |\}")
    assert [line for line in statements if not types.match(line)] == []
