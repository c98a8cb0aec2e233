"""The table `[chunking]`: where options may stand, other names of strategies, rules and templates."""

import json
from pathlib import Path

import pytest
from golden_cases import check_golden
from pydantic import ValidationError

from vault_indexer.config.tables.chunking import (
    ChunkingRule,
    ChunkingSettings,
    normalize_strategy_options,
    without_overruled,
)


def test_tables_are_read_as_the_golden_says() -> None:
    def normalized(text: str) -> str:
        table = json.loads(text)
        found = normalize_strategy_options(table)
        assert table == json.loads(text)
        return json.dumps(found)

    def kept(text: str) -> str:
        found, reasons = without_overruled(json.loads(text))
        return f"{json.dumps(found)} {reasons or ''}"

    def refusal(text: str) -> str:
        with pytest.raises(ValidationError) as refused:
            ChunkingSettings.model_validate_json(text)
        return "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg'] if one['type'] == 'value_error' else one['type']}"
            for one in refused.value.errors()
        )

    check_golden(
        Path(__file__).parent / "fixtures" / "chunking.md",
        {
            "Options go to the table of their strategy": normalized,
            "Options of words are left out where another strategy is named": kept,
            "What does not fit together is refused": refusal,
            "Whether a language model is asked": lambda text: str(
                ChunkingSettings.model_validate_json(text).asks_model
            ),
        },
    )


def test_a_rule_is_what_a_note_would_write() -> None:
    rule = ChunkingRule.model_validate({"paths": ("a",), "strategy": "words", "chunk_size": 9})
    assert rule.choice == {"strategy": "word", "chunk_size": 9}
    assert ChunkingRule.model_validate({"paths": ("a",)}).choice == {}


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
