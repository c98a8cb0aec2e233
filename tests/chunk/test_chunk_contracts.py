"""What docs/internals/contracts.md promises of the strategies, beyond the laws of all of them."""

from pathlib import Path

import pytest
from chunk_laws import cut
from golden_cases import check_golden, of_parts

from vault_indexer.chunk.strategies.paragraphs import load_markers
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.errors import ProviderError
from vault_indexer.model import Chunk

WORDS = "word " * 99 + "end."
SENTENCE = "One sentence of the text stands here. "


def sizes(chunks: list[Chunk]) -> list[int]:
    return [len(chunk.body.split()) for chunk in chunks]


# --- sizes and overlap


@pytest.mark.parametrize(
    ("strategy", "size"),
    [
        ("markdown", "max_chunk_size"),
        ("paragraph", "max_chars"),
        ("recursive", "chunk_size"),
        ("boundary", "max_chunk_size"),
        ("discourse", "max_chars"),
        ("semantic", "max_chunk_size"),
        ("hierarchical", "child_size"),
        ("parent_child", "max_child_tokens"),
        ("code", "max_chunk_size"),
    ],
)
def test_every_size_can_count_words(strategy: str, size: str) -> None:
    chunks = cut(strategy, SENTENCE * 100, size_unit="words", **{size: 60})
    lowest = [chunk for chunk in chunks if chunk.extra.get("level", 1) == 1]
    assert all(len(chunk.content.split()) <= 60 + 60 for chunk in lowest)
    assert max(sizes(lowest)) > 20


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("token", {"max_tokens": 20, "overlap_tokens": 19}),
        ("word", {"chunk_size": 20, "chunk_overlap": 19}),
        ("recursive", {"chunk_size": 100, "chunk_overlap": 99}),
        ("markdown", {"max_chunk_size": 20, "overlap": 19}),
        ("hierarchical", {"parent_size": 40, "child_size": 20, "child_overlap": 19}),
    ],
)
def test_an_overlap_may_be_nearly_as_large_as_the_chunk(strategy: str, options: dict[str, object]) -> None:
    chunks = cut(strategy, " ".join(f"w{n}" for n in range(100)), **options)
    assert min(len(chunk.overlap.split()) for chunk in chunks[2:-1] if chunk.overlap) >= 15
    with pytest.raises(ValueError, match="must be smaller than"):
        same = {"overlap_tokens": 20, "chunk_overlap": 100, "overlap": 20, "child_overlap": 20}
        ChunkingSettings.model_validate(
            {"strategy": strategy, **options, **{key: same[key] for key in same if key in options}}
        )


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("word", {"chunk_size": 50, "chunk_overlap": 30}),
        ("token", {"max_tokens": 50, "overlap_tokens": 30}),
        ("recursive", {"chunk_size": 50, "chunk_overlap": 30, "size_unit": "words"}),
        ("hierarchical", {"parent_size": 500, "child_size": 50, "child_overlap": 30}),
    ],
)
def test_every_window_repeats_more_than_half_where_that_is_chosen(
    strategy: str, options: dict[str, object]
) -> None:
    chunks = cut(strategy, " ".join(f"w{n}" for n in range(250)), **options)
    windows = [chunk for chunk in chunks if chunk.extra.get("level", 1) == 1][1:-1]
    sized = [(len(one.overlap.split()), len((one.overlap + one.body).split())) for one in windows]
    assert len(sized) == 9
    assert all(29 <= repeated <= 30 and 49 <= size <= 50 for repeated, size in sized), sized


def test_an_overlap_begins_at_a_word_where_the_block_before_is_longer() -> None:
    chunks = cut("hierarchical", f"{WORDS}\n\n{WORDS}\n", parent_size=120, child_size=100, parent_overlap=7)
    parents = [chunk for chunk in chunks if chunk.extra["level"] == 0]
    assert parents[1].overlap.split() == ["word"] * 6 + ["end."]


# --- discourse


def test_markers_are_read_as_the_golden_says(tmp_path: Path) -> None:
    built_in = load_markers()

    def judged(language: str, text: str) -> str:
        markers = built_in[language]
        return "continues" if markers.continues(text) else repr(markers.conclusion_of(text))

    def refused(content: str) -> str:
        (tmp_path / "xx.toml").write_text(content, encoding="utf-8")
        with pytest.raises(ProviderError) as refused:
            load_markers(str(tmp_path))
        begin, _, said = str(refused.value).partition("xx.toml: ")
        assert "markers_dir" in begin
        return said.partition(": Invalid")[0]  # what follows are the words of tomllib

    check_golden(
        Path(__file__).parent / "fixtures" / "markers.md",
        {
            "A paragraph is judged by the words it opens with": of_parts(judged),
            "A broken file of markers is named": refused,
        },
    )
    with pytest.raises(ProviderError, match="markers_dir"):
        load_markers(str(tmp_path / "none"))


def test_a_folder_of_markers_adds_and_replaces_languages(tmp_path: Path) -> None:
    table = 'continuation = ["mutta"]\nconclusion = ["siis"]\ncommon = ["ja", "on"]\n'
    (tmp_path / "fi.toml").write_text(table, encoding="utf-8")
    (tmp_path / "en.toml").write_text(table.replace("mutta", "but only"), encoding="utf-8")
    options = {"max_chars": 100, "min_chars": 40, "markers_dir": str(tmp_path)}
    text = f"{SENTENCE * 2}\n\nMutta tämä. {SENTENCE}\n"
    assert len(cut("discourse", text, language="fi", **options)) == 1
    assert len(cut("discourse", text.replace("Mutta", "However"), language="en", **options)) == 2


# --- boundary


def test_patterns_that_replace_the_boundaries_are_needed() -> None:
    with pytest.raises(ValueError, match="replace_patterns needs patterns"):
        ChunkingSettings.model_validate({"strategy": "boundary", "replace_patterns": True})
