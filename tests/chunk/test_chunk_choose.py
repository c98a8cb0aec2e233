"""Frontmatter over rules over settings, and what a note may not choose."""

import json
from pathlib import Path

from chunk_laws import note_of
from golden_cases import check_golden

from vault_indexer.chunk import Choice, Chooser, ChoosingChunker
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.model import JsonValue

SETTINGS = ChunkingSettings.model_validate(
    {
        "strategy": "paragraph",
        "token": {"max_tokens": 300},
        "rules": [
            {"paths": ["Journal/**"], "strategy": "none"},
            {"paths": ["*.canvas", "Code/"], "strategy": "code", "max_chunk_size": 900},
            {"paths": ["Long/*.md"], "max_chars": 3000},
        ],
    }
)


def choose(path: str, own: JsonValue = None) -> Choice:
    return Chooser(SETTINGS).choice(path, {} if own is None else {"chunking": own})


def test_a_rule_sets_options_of_its_strategy_or_of_the_one_in_force() -> None:
    assert choose("Code/x.md").settings.code.max_chunk_size == 900
    assert choose("Long/x.md").settings.paragraph.max_chars == 3000
    assert choose("x.md").settings.paragraph.max_chars == 1500


def test_the_frontmatter_is_stronger_than_a_rule() -> None:
    chosen = choose("Journal/x.md", "token")
    assert (chosen.settings.strategy, chosen.settings.token.max_tokens) == ("token", 300)
    assert chosen.diagnostics == ()
    assert choose("Long/x.md", {"min_chars": 10}).settings.paragraph.max_chars == 3000


def test_a_size_of_the_choice_beats_one_of_the_settings_that_contradicts_it() -> None:
    settings = ChunkingSettings.model_validate({"max_chunk_chars": 4000, "min_chunk_chars": 1000})
    chosen = Chooser(settings).choice("a.md", {"chunking": {"max_chunk_chars": 500}})
    assert chosen.diagnostics == ()
    assert (chosen.settings.max_chunk_chars, chosen.settings.min_chunk_chars) == (500, 200)


def test_rules_and_choices_count_as_the_golden_says() -> None:
    def said(own: str) -> str:
        chosen = choose("Journal/x.md", json.loads(own))
        (diagnostic,) = chosen.diagnostics
        assert (chosen.settings.strategy, diagnostic.kind, diagnostic.line) == ("none", "chunking", 1)
        assert "\n" not in diagnostic.detail
        return diagnostic.detail

    golden = Path(__file__).parent / "fixtures" / "choices.md"
    strategy = {"The first rule that matches counts": lambda path: choose(path).settings.strategy}
    check_golden(golden, {"Choices": said, **strategy})


def test_notes_are_cut_as_they_choose() -> None:
    chunker = ChoosingChunker(SETTINGS)
    text = "# A\n\n" + "A sentence of some words. " * 100
    assert {c.strategy for c in chunker.chunk(note_of(text))} == {"paragraph"}
    assert [c.strategy for c in chunker.chunk(note_of(text, "Journal/a.md"))] == ["none"]
    own = note_of("---\nchunking: {chunk_size: 10}\n---\n" + text)
    assert {c.strategy for c in chunker.chunk(own)} == {"word"}
    bad = note_of("---\nchunking: custom\n---\n" + text)
    assert {c.strategy for c in chunker.chunk(bad)} == {"paragraph"}
    assert [d.kind for d in chunker.diagnostics(bad)] == ["chunking"]


def test_a_strategy_that_a_note_names_overrules_old_options() -> None:
    chosen = choose("x.md", {"strategy": "markdown", "chunk_size": 100})
    assert chosen.settings.strategy == "markdown"
    (said,) = chosen.diagnostics
    assert (said.kind, said.line) == ("chunking", 1)
    assert said.detail.startswith('chunking.chunk_size in the frontmatter is an option of "word", and the')
