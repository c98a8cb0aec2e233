"""Which model an index of `embedding.provider = "auto"` has, and which one it changes to."""

from contextlib import closing
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from small_generation import scan_of

from vault_indexer.config import Settings
from vault_indexer.index.compatibility import (
    check_compatibility,
    manifest_for,
    settings_for_build,
    settings_for_index,
    upgraded_settings,
)
from vault_indexer.model import Chunk, FileRow, Note
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import better_model
from vault_indexer.providers.wordllama import wordllama_model
from vault_indexer.store import Generation
from vault_indexer.store.catalog import CatalogWriter, PreparedNote, ResolvedLink, note_rows
from vault_indexer.vault.walk import Scan


def settings(provider: str, max_upgrade_hours: float = 3.0) -> Settings:
    return Settings.model_validate(
        {"embedding": {"provider": provider, "max_upgrade_hours": max_upgrade_hours}}
    )


def test_models_of_auto_are_those_of_the_golden() -> None:
    def upgraded(configured: str, hours: str, built: str) -> str:
        found = upgraded_settings(settings(configured, float(hours)), EmbeddingModel(built, "a model", 8))
        return found.embedding.provider if found else "as it is"

    def kept(configured: str, built: str) -> str:
        model = EmbeddingModel(built, "a model", 8)
        return settings_for_index(settings(configured), model).embedding.provider

    check_golden(
        Path(__file__).parent / "fixtures" / "models.md",
        {
            "An index changes to a better model only where auto chose another": of_parts(upgraded),
            "An index keeps the model that auto chose": of_parts(kept),
        },
    )


needs_better = pytest.mark.skipif(better_model() is None, reason="the better model is not installed")
LARGE = 200_001


def generation_of(folder: Path, texts: int, known: int) -> Generation:
    """A generation of the static model with so many texts, of which some have a vector of the better one."""
    generation = Generation(1, folder)
    generation.write_manifest(manifest_for(settings("wordllama"), wordllama_model(), "").to_toml())
    better = better_model()
    assert better is not None
    chunks = [Chunk(f"c{n}", n, "", n, n + 1, 1, 1, "x", "none") for n in range(texts)]
    digests = [str(n).encode() for n in range(texts)]
    rows = note_rows(Note("a.md", "x" * texts, "a", "en"), chunks, digests)
    with closing(CatalogWriter(generation.catalog)) as writer, writer.commit():
        note = PreparedNote(FileRow("a.md", 1, 1, 1, 1, "", "note"), rows, {}, 0, 0)
        writer.put_note(note, lambda target, _: ResolvedLink(target, None, ambiguous=False), "model")
        writer.put_vectors(dict.fromkeys(digests[:known], bytes(4)), better.key)
    return generation


@needs_better
@pytest.mark.parametrize(
    ("scan", "better", "provider"),
    [
        (scan_of(100_000, 100_000, attachment=9_000_000), False, "multilingual"),
        (scan_of(100_000, 100_001), False, "wordllama"),
        (scan_of(LARGE), True, "multilingual"),
    ],
)
def test_a_first_build_has_the_better_model_where_that_is_quick(
    scan: Scan, better: bool, provider: str
) -> None:
    made = settings_for_build(settings("auto"), scan, None, better=better)
    assert made.embedding.provider == provider
    assert made.embedding.max_upgrade_hours == 3.0
    named = settings("ollama")
    assert settings_for_build(named, scan, None, better=better) is named


@needs_better
@pytest.mark.parametrize(("known", "provider"), [(4, "wordllama"), (5, "multilingual")])
def test_a_build_that_replaces_an_index_looks_at_the_vectors_that_are_known(
    tmp_path: Path, known: int, provider: str
) -> None:
    generation = generation_of(tmp_path, 10, known)
    assert settings_for_build(settings("auto"), scan_of(LARGE), generation).embedding.provider == provider
    generation.manifest.write_bytes(b"\xff")
    assert settings_for_build(settings("auto"), scan_of(LARGE), generation).embedding.provider == "wordllama"
    generation.manifest.unlink()
    assert settings_for_build(settings("auto"), scan_of(LARGE), generation).embedding.provider == "wordllama"


def test_a_generation_fits_the_settings_it_was_built_with(tmp_path: Path) -> None:
    generation = Generation(1, tmp_path)
    used = settings("wordllama")
    weighting = used.embedding.weighting
    written = manifest_for(used, wordllama_model(), weighting)
    generation.write_manifest(written.to_toml())
    for configured in (used, settings("auto")):
        fits = check_compatibility(generation, configured)
        assert (fits.manifest, fits.reasons) == (written, ())
    other = Settings.model_validate(
        {"chunking": {"strategy": "paragraph"}, "embedding": {"provider": "wordllama"}}
    )
    changed = check_compatibility(generation, other)
    assert changed.manifest == written
    assert changed.reasons == ("chunking.strategy is now paragraph",)
    renamed = check_compatibility(generation, settings("multilingual"))
    assert "embedding.provider is now multilingual" in renamed.reasons
    generation.manifest.write_text("nonsense = ")
    damaged = check_compatibility(generation, used)
    assert damaged.manifest == written
    assert [reason.partition(":")[0] for reason in damaged.reasons] == ["manifest.toml"]
    generation.manifest.unlink()
    (reason,) = check_compatibility(generation, used).reasons
    assert reason.startswith("manifest.toml: ") and reason.count("manifest.toml") == 1


def test_options_of_a_strategy_that_a_note_chose_count_as_well(tmp_path: Path) -> None:
    generation = Generation(1, tmp_path)
    used = settings("wordllama")
    chosen = manifest_for(used, wordllama_model(), used.embedding.weighting, ["paragraph"])
    generation.write_manifest(chosen.to_toml())
    assert check_compatibility(generation, used).reasons == ()
    other = Settings.model_validate(
        {"chunking": {"paragraph": {"max_chars": 777}}, "embedding": {"provider": "wordllama"}}
    )
    assert len(check_compatibility(generation, other).reasons) == 1
