"""The names of variants, the settings they stand for, and what a run makes of a question."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
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


def test_a_variant_is_named_after_what_it_changes(target: Target) -> None:
    one, two = parse_variants(["recursive+keyword", "search.rrf_k=10+rrf"])
    assert one.index_options == {"chunking.strategy": "recursive"}
    settings = settings_with(target.config.settings, two.options, "variant")
    assert (settings.search.rrf_k, settings.search.rerank) == (10, 0)
    assert two.index_options == {}


def test_a_value_that_is_not_allowed_is_an_error_of_the_configuration(target: Target) -> None:
    with pytest.raises(ConfigError, match=r"search\.rrf_k"):
        settings_with(target.config.settings, {"search.rrf_k": "none"}, "variant")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("configured", {}),
        ("keyword", {"search.weights.vector": "0", "search.weights.graph": "0"}),
        ("vector", {"search.weights.keyword": "0", "search.weights.graph": "0"}),
        ("no_graph", {"search.weights.graph": "0"}),
        ("rrf", {"search.rerank": "0"}),
        ("whole_note", {"chunking.strategy": "none"}),
        ("word + rrf", {"chunking.strategy": "word", "search.rerank": "0"}),
        ("wordllama", {"embedding.provider": "wordllama"}),
        ("search.limit=3+search.limit=4", {"search.limit": "4"}),
    ],
)
def test_a_name_stands_for_settings(name: str, options: dict[str, str]) -> None:
    (variant,) = parse_variants([name, "", f" {name} "])
    assert (variant.name, dict(variant.options)) == (name, options)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("keyword+recursiv", "variant 'keyword+recursiv': no 'recursiv'; did you mean recursive?"),
        ("search.limi=300000000000", "no 'search.limi=300000000000'; did you mean search.limit?"),
        ("search.limit", f"no 'search.limit'; there are {', '.join(known_names())}, and key=value"),
        ("=3", "no '=3'; there are configured, "),
    ],
)
def test_a_wrong_name_is_refused_with_those_that_exist(name: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_variants([name])
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"index.backend": "milvus"}, "the URL of the server is required"),
        (
            {"chunking.word.chunk_size": "80", "chunking.word.chunk_overlap": "90"},
            r"chunking.word = \{.*\}: chunk_overlap must be smaller than chunk_size",
        ),
        ({"chunking.contextual.group_by": "section"}, r".*group_by needs a granularity.*"),
    ],
)
def test_values_that_disagree_are_refused_by_the_name_of_the_variant(
    options: dict[str, str], said: str
) -> None:
    with pytest.raises(UsageError, match=rf"^variant x: {said}$"):
        settings_with(Settings(), options, "variant x")


def test_a_variant_changes_its_settings_alone(target: Target, tmp_path: Path) -> None:
    (variant,) = parse_variants(["search.limit=4+word"])
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-heap", "heap"),
        ("a (b) tag:x|y", "a b tag x y"),
        (" x\n", "x"),
        ('"', ""),
        ('-"" ()', ""),
        ("?!", "?!"),
        ("é" * 5_000, "é" * 2_048),
    ],
)
def test_operators_and_what_is_too_long_are_taken_off_a_question(text: str, words: str) -> None:
    assert plain_query(text) == words
