"""The names of variants, the settings they stand for, and what a run makes of a question."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from golden_cases import check_golden
from questions_vault import target_of

from vault_evals.questions import Question
from vault_evals.ranking import RemainingTime, is_stale, plain_query
from vault_evals.variants import known_names, parse_variants, settings_with, target_of_variant
from vault_indexer.config.settings import Settings, VaultPatterns
from vault_indexer.daemon.assembly import Target
from vault_indexer.errors import ConfigError, UsageError


@pytest.fixture
def target(tmp_path: Path) -> Target:
    (tmp_path / "vault").mkdir()
    return target_of(tmp_path / "vault", tmp_path / "index")


def test_the_time_that_remains_counts_indices_and_questions() -> None:
    now = 0.0
    left = RemainingTime(indices=2, questions=300, clock=lambda: now)
    assert left.text() == ""
    now += 40
    left.is_built()
    now += 10
    left.is_asked(100)
    assert left.is_due()
    assert left.text() == ", about 1 min left"  # 20 s for 200 questions, 40 s for an index
    assert not left.is_due()
    now += 40
    left.is_built()
    now += 10
    left.is_asked(100)
    assert left.text() == ", about 10 s left"


@pytest.mark.parametrize(("each_s", "said"), [(30.1, "2 min"), (29.9, "1 min"), (9.9, "30 s"), (10, "30 s")])
def test_a_rest_of_less_than_half_a_minute_is_said_in_seconds(each_s: float, said: str) -> None:
    now = 0.0
    left = RemainingTime(indices=1, questions=4, clock=lambda: now)
    left.is_built()
    now += each_s
    left.is_asked(1)
    assert left.text() == f", about {said} left"


def test_a_value_that_is_not_allowed_is_an_error_of_the_configuration(target: Target) -> None:
    with pytest.raises(ConfigError, match=r"search\.rrf_k"):
        settings_with(target.config.settings, {"search.rrf_k": "none"}, "variant")


def test_names_of_variants_and_words_of_questions_are_those_of_the_golden() -> None:
    def options(name: str) -> str:
        try:
            (variant,) = parse_variants([name, "", f" {name} "])
        except UsageError as refused:
            return str(refused).replace(", ".join(known_names()), "…")
        assert variant.name == name
        return str(dict(variant.options))

    def refusal(text: str) -> str:
        with pytest.raises(UsageError) as refused:
            settings_with(Settings(), json.loads(text), "variant x")
        return str(refused.value)

    check_golden(
        Path(__file__).parent / "fixtures" / "variants.md",
        {
            "A name stands for settings": options,
            "Values that disagree are refused": refusal,
            "Operators are taken off a question": plain_query,
        },
    )
    assert plain_query("é" * 5_000) == "é" * 2_048


def test_a_variant_changes_its_settings_alone(target: Target, tmp_path: Path) -> None:
    (variant,) = parse_variants(["search.limit=4+word"])
    assert variant.index_options == {"chunking.strategy": "word"}
    before = target.config.settings
    files = before.files.with_vault(VaultPatterns(exclude=("Private/",)))
    before = before.model_copy(update={"files": files})
    target = replace(target, config=replace(target.config, settings=before))
    changed = target_of_variant(target, tmp_path / "shadow", tmp_path / "other", variant)
    assert (changed.vault, changed.index_dir) == (tmp_path / "shadow", tmp_path / "other")
    after = changed.config.settings
    assert (after.search.limit, after.chunking.strategy) == (4, "word")
    assert after.files.of_vault.exclude == ("Private/",)
    assert after.search.model_copy(update={"limit": before.search.limit}) == before.search
    assert changed.reload() is changed.config


def test_a_question_is_stale_when_its_note_has_changed_or_all_that_it_expects_are_gone() -> None:
    hashes = {"a.md": hashlib.sha256(b"a").hexdigest(), "b.md": "b"}
    expects_both = {"a.md": 1, "gone.md": 1}
    assert not is_stale(Question("q", "q", expects_both), hashes)
    assert not is_stale(Question("q", "q", expects_both, sha256={"a.md": hashes["a.md"]}), hashes)
    assert is_stale(Question("q", "q", expects_both, sha256={"a.md": "0", "b.md": "b"}), hashes)
    assert is_stale(Question("q", "q", {"gone.md": 1}), hashes)
    assert is_stale(Question("q", "q", {"a.md": 0, "gone.md": 2}), hashes)
