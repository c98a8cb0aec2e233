"""The table `[chunking]`: where options may stand, other names of strategies, rules and templates."""

import pytest
from pydantic import ValidationError

from vault_indexer.config.tables.chunking import (
    ChunkingRule,
    ChunkingSettings,
    normalize_strategy_options,
    without_overruled,
)


@pytest.mark.parametrize(
    ("table", "normalized"),
    [
        ({}, {}),
        ({"chunk_size": 9}, {"strategy": "word", "word": {"chunk_size": 9}}),
        (
            {"chunk_overlap": 1, "min_chunk_size": 2},
            {"strategy": "word", "min_chunk_size": 2, "word": {"chunk_overlap": 1}},
        ),
        ({"strategy": "fixed_size", "chunk_size": 9}, {"strategy": "word", "word": {"chunk_size": 9}}),
        (
            {"strategy": "word", "chunk_size": 9, "word": {"chunk_overlap": 1}},
            {"strategy": "word", "word": {"chunk_overlap": 1, "chunk_size": 9}},
        ),
        (
            {"strategy": "word", "chunk_size": 9, "word": {"chunk_size": 8}},
            {"strategy": "word", "chunk_size": 9, "word": {"chunk_size": 8}},
        ),
        ({"strategy": "word", "word": 3, "chunk_size": 9}, {"strategy": "word", "word": 3, "chunk_size": 9}),
        ({"strategy": "unknown", "chunk_size": 9}, {"strategy": "unknown", "chunk_size": 9}),
        ({"strategy": 7, "chunk_size": 9}, {"strategy": 7, "chunk_size": 9}),
        ({"strategy": "none"}, {"strategy": "none"}),
        ({"contextual": True}, {"contextual": {"granularity": "chunk"}}),
        ({"contextual": False}, {"contextual": {"granularity": "none"}}),
        ({"contextual": {"max_tokens": 3}}, {"contextual": {"max_tokens": 3}}),
    ],
)
def test_options_go_to_the_table_of_their_strategy(
    table: dict[str, object], normalized: dict[str, object]
) -> None:
    before = dict(table)
    assert normalize_strategy_options(table) == normalized
    assert table == before


@pytest.mark.parametrize(
    ("table", "kept", "left_out"),
    [
        (
            {"strategy": "none", "chunk_size": 9, "rules": []},
            {"strategy": "none", "rules": []},
            ["chunk_size"],
        ),
        ({"chunk_size": 9}, {"chunk_size": 9}, []),
        ({"strategy": "unknown", "chunk_size": 9}, {"strategy": "unknown", "chunk_size": 9}, []),
        (
            {"strategy": "paragraph", "chunk_size": 9, "chunk_overlap": 1},
            {"strategy": "paragraph"},
            ["chunk_size", "chunk_overlap"],
        ),
    ],
)
def test_options_of_words_are_left_out_where_another_strategy_is_named(
    table: dict[str, object], kept: dict[str, object], left_out: list[str]
) -> None:
    found, reasons = without_overruled(table)
    assert found == kept
    reason = f'is an option of "word", and the strategy is "{table.get("strategy")}"'
    assert reasons == dict.fromkeys(left_out, reason)


@pytest.mark.parametrize(
    ("table", "asks"),
    [
        ({}, False),
        ({"strategy": "llm"}, True),
        ({"strategy": "agentic"}, True),
        ({"contextual": True}, True),
        ({"contextual": False}, False),
        ({"rules": [{"paths": ["a"], "strategy": "llm"}]}, True),
        ({"rules": [{"paths": ["a"], "strategy": "word"}]}, False),
        ({"rules": [{"paths": ["b"], "strategy": "word"}, {"paths": ["a"], "contextual": True}]}, True),
    ],
)
def test_a_model_is_asked_where_a_strategy_a_rule_or_a_preamble_needs_one(
    table: dict[str, object], asks: bool
) -> None:
    assert ChunkingSettings.model_validate(table).asks_model is asks


def test_a_rule_is_what_a_note_would_write() -> None:
    rule = ChunkingRule.model_validate({"paths": ("a",), "strategy": "words", "chunk_size": 9})
    assert rule.choice == {"strategy": "word", "chunk_size": 9}
    assert ChunkingRule.model_validate({"paths": ("a",)}).choice == {}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"rules": [{"paths": []}]}, "at least 1 item"),
        ({"rules": [{"paths": ["a"], "rules": []}]}, "a rule cannot have rules"),
        ({"rules": [{"paths": ["a"], "nothing": 1}]}, "nothing"),
        ({"rules": [{"paths": ["a"], "strategy": "word", "chunk_size": -1}]}, "greater than or equal to 1"),
        (
            {"strategy": "word", "rules": [{"paths": ["a"], "max_chars": 9}]},
            "the rule for a names no strategy, and the chosen one has no option max_chars",
        ),
        (
            {"strategy": "paragraph", "rules": [{"paths": ["a"], "max_chars": "many"}]},
            "the rule for a names no strategy, and the chosen one does not accept 'many' as "
            "paragraph.max_chars",
        ),
        ({"contextual": {"group_by": "a:b"}}, "group_by needs a granularity other than none"),
        ({"contextual": {"user_template": "{chunk_text"}}, "a template whose braces match"),
        ({"contextual": {"user_template": "{document_text}"}}, "a template with {chunk_text}"),
        ({"contextual": {"user_template": "{chunk_text} {x}"}}, "a template with {chunk_text}"),
        ({"contextual": {"user_template": "{} {chunk_text}"}}, "a template "),
    ],
)
def test_what_does_not_fit_together_is_refused(table: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as error:
        ChunkingSettings.model_validate(table)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "template", ["", "{chunk_text}", "{document_text}{chunk_text}", "{{x}} {chunk_text}"]
)
def test_a_template_names_the_chunk_and_perhaps_the_note(template: str) -> None:
    settings = ChunkingSettings.model_validate({"contextual": {"user_template": template}})
    assert settings.contextual.user_template == template


def test_a_rule_may_have_options_of_the_strategy_beside_it() -> None:
    table = {"strategy": "word", "rules": [{"paths": ["a"], "chunk_size": 9}]}
    assert ChunkingSettings.model_validate(table).rules[0].choice == {"chunk_size": 9}
    grouped = {"contextual": {"group_by": "a:b", "granularity": "chunk"}}
    assert ChunkingSettings.model_validate(grouped).contextual.group_by == "a:b"
