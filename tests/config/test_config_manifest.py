"""A manifest says what built a generation; what differs from it starts a rebuild."""

import json
from pathlib import Path

import pytest
import tomlkit
from golden_cases import check_golden, compare_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from vault_indexer.config import SPEC_VERSION, Manifest, Settings, chunking_config
from vault_indexer.config.manifest import E5_PREFIXES, differences, language_model, settings_of
from vault_indexer.errors import ManifestError
from vault_indexer.ports import EmbeddingModel

FIELDS = tuple(
    name for name, field in Manifest.model_fields.items() if field.is_required() and name != "word_vectors"
)


def manifest(**changed: object) -> Manifest:
    made = Manifest(
        spec_version=SPEC_VERSION,
        embedding_model=EmbeddingModel("wordllama", "l2_supercat", 256),
        parsers={"markdown": "1"},
        chunking_config=chunking_config(Settings()),
        analyzer="stem-1",
        token_weights="idf-3f2a",
        language_model="",
        word_vectors="wordllama/l2_supercat_256",
    )
    return made.model_copy(update=changed)


def settings(**chunking: object) -> Settings:
    return Settings.model_validate({"chunking": chunking})


def test_the_file_of_a_default_generation() -> None:
    compare_golden(Path(__file__).parent / "fixtures" / "manifest.toml", manifest().to_toml())


json_values = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.text() | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1), inner, max_size=3),
    max_leaves=8,
)


@given(
    config=st.dictionaries(st.text(min_size=1), json_values, max_size=4),
    parsers=st.dictionaries(st.text(min_size=1), st.text(), max_size=3),
    model=st.builds(EmbeddingModel, st.text(), st.text(), st.integers(0, 9999)),
)
def test_any_manifest_survives_its_file(
    config: dict[str, JsonValue], parsers: dict[str, str], model: EmbeddingModel
) -> None:
    made = manifest(chunking_config=config, parsers=parsers, embedding_model=model)
    again = Manifest.from_toml(made.to_toml())
    assert again == made
    assert differences(made, again) == []


@pytest.mark.parametrize("field", FIELDS)
def test_a_missing_field_is_named(field: str) -> None:
    table = manifest().model_dump(mode="json")
    del table[field]
    with pytest.raises(ManifestError, match=rf"^manifest\.toml: {field} is missing$") as caught:
        Manifest.from_toml(tomlkit.dumps(table))
    assert caught.value.fields == (field,)


@pytest.mark.parametrize(("provider", "fits"), [("wordllama", True), ("multilingual", False)])
def test_a_file_from_before_word_vectors_had_a_name_fits_where_words_were_numbered(
    provider: str, fits: bool
) -> None:
    made = manifest(embedding_model=EmbeddingModel(provider, "m", 256))
    table = made.model_dump(mode="json")
    del table["word_vectors"]
    now = [] if fits else ["word_vectors is now wordllama/l2_supercat_256"]
    assert differences(Manifest.from_toml(tomlkit.dumps(table)), made) == now


def test_a_file_from_before_links_had_a_style_was_built_with_those_of_obsidian() -> None:
    table = manifest().model_dump(mode="json")
    del table["link_style"]
    before = Manifest.from_toml(tomlkit.dumps(table))
    assert differences(before, manifest()) == []
    assert differences(before, manifest(link_style="hugo")) == ["links.style is now hugo"]
    assert settings_of(manifest(link_style="hugo"), Settings()).links.style == "hugo"


def test_odd_fields_are_named_all_at_once() -> None:
    table = manifest().model_dump(mode="json") | {"spec_version": "1", "colour": "red"}
    table["embedding_model"]["size"] = 3
    with pytest.raises(ManifestError) as caught:
        Manifest.from_toml(tomlkit.dumps(table))
    assert set(caught.value.fields) == {"spec_version", "colour", "embedding_model.size"}
    assert "spec_version is of the wrong type" in str(caught.value)
    assert "colour is not known" in str(caught.value)


@pytest.mark.parametrize("text", ["", "x = ", "a = 1979-05-27", f"a = {'[' * 450}", f"a = {'1' * 5000}"])
def test_a_damaged_file_is_a_manifest_error(text: str) -> None:
    with pytest.raises(ManifestError, match=r"^manifest\.toml: "):
        Manifest.from_toml(text)


def test_differences_are_told_by_field() -> None:
    new = manifest(
        spec_version=4,
        embedding_model=EmbeddingModel("minilm", "all-MiniLM-L6-v2", 384),
        parsers={"markdown": "2", "canvas": "1"},
        chunking_config=chunking_config(settings(max_chunk_chars=900)),
        analyzer="stem-2",
    )
    assert differences(manifest(), new) == [
        "another version of vault-indexer built it",
        "embedding.provider is now minilm",
        "chunking.max_chunk_chars is now 900",
    ]


def test_another_strategy_is_one_difference() -> None:
    chosen = Settings.model_validate({"chunking": {"strategy": "semantic"}})
    made = manifest(chunking_config=chunking_config(chosen))
    assert differences(manifest(), made) == ["chunking.strategy is now semantic"]


def test_other_weights_are_no_difference_but_another_mode_is() -> None:
    assert differences(manifest(), manifest(token_weights="idf-9999")) == []
    assert differences(manifest(), manifest(token_weights="")) == ["token_weights is now none"]
    assert differences(manifest(token_weights=""), manifest()) == ["token_weights is now idf"]


@pytest.mark.parametrize(
    ("built", "provider", "model"),
    [
        (EmbeddingModel("huggingface", "e5-small" + E5_PREFIXES, 384), "huggingface", "e5-small"),
        (EmbeddingModel("ollama", "nomic", 768), "ollama", "nomic"),
        (EmbeddingModel("multilingual", "any", 512), "multilingual", ""),
    ],
)
def test_an_index_is_opened_with_the_model_that_built_it(
    built: EmbeddingModel, provider: str, model: str
) -> None:
    embedding = settings_of(manifest(embedding_model=built), Settings()).embedding
    assert (embedding.provider, embedding.model) == (provider, model)


def test_a_strategy_without_options_keeps_only_its_name() -> None:
    assert chunking_config(settings(strategy="none")) == {"strategy": "none"}


def test_what_decides_the_chunks_is_a_difference_and_options_of_an_idle_strategy_are_none() -> None:
    def compared(one: str, other: str) -> str:
        configs = [chunking_config(settings(**json.loads(text))) for text in (one, other)]
        return "the same" if configs[0] == configs[1] else "different"

    check_golden(Path(__file__).parent / "fixtures" / "differences.md", {"": of_parts(compared)})


def test_options_of_a_strategy_that_a_note_uses_count() -> None:
    by_note = [chunking_config(settings(word={"chunk_size": size}), ["word"]) for size in (100, 200)]
    assert by_note[0] != by_note[1]


@pytest.mark.parametrize(
    "chunking",
    [
        {"strategy": "llm"},
        {"strategy": "agentic"},
        {"contextual": True},
        {"rules": [{"paths": ["*"], "strategy": "agentic"}]},
        {"rules": [{"paths": ["*"], "contextual": {"granularity": "section"}}]},
    ],
)
def test_the_language_model_counts_where_one_is_asked(chunking: dict[str, object]) -> None:
    llm = {"provider": "ollama", "model": "small"}
    asked = Settings.model_validate({"chunking": chunking, "llm": llm})
    assert language_model(asked) == "ollama/small"
    assert language_model(Settings.model_validate({"llm": llm})) == ""
    assert chunking_config(asked) != chunking_config(Settings())
    made = manifest(chunking_config=chunking_config(asked), language_model="ollama/small")
    assert Manifest.from_toml(made.to_toml()) == made
    other = made.model_copy(update={"language_model": "ollama/large"})
    assert differences(made, other) == ["language_model is now ollama/large"]


def test_a_manifest_with_rules_survives_its_file() -> None:
    rules = [{"paths": ["*.txt"], "chunk_size": 100, "chunk_overlap": 10}]
    made = manifest(chunking_config=chunking_config(settings(rules=rules)))
    assert Manifest.from_toml(made.to_toml()) == made
    assert any(line.startswith("chunking.rules is now [{ ") for line in differences(manifest(), made))


def test_unrelated_keys_change_nothing() -> None:
    tables = {
        "search": {"limit": 5},
        "watch": {"debounce_s": 1},
        "server": {"port": 8000},
        "index": {"workers": 1},
    }
    assert chunking_config(Settings.model_validate(tables)) == chunking_config(Settings())
