"""Markers and languages of `discourse`; the best division of segments, compared with all divisions."""

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from chunk_laws import cut
from golden_cases import check_golden, of_parts

from vault_indexer.chunk.strategies.paragraphs import detect, load_markers
from vault_indexer.chunk.strategies.semantic import best_division
from vault_indexer.errors import ProviderError

FIXTURES = Path(__file__).parent / "fixtures"


def worth(
    vectors: np.ndarray, lengths: list[int], opens: list[bool], borders: list[int], limit: int
) -> float:
    """By the definition: the length of the sum of each chunk's vectors, less the price of each chunk."""
    total = 0.0
    for first, end in pairwise(borders):
        summed = (vectors[first:end] * np.array(lengths[first:end])[:, None]).sum(axis=0)
        total += float(np.linalg.norm(summed)) - 52.0 * (limit / 1000) ** 1.2
        total -= 0.0 if opens[first] else 150.0
    return total


@pytest.mark.parametrize("seed", range(12))
def test_no_other_division_is_worth_more(seed: int) -> None:
    chance = np.random.default_rng(seed)
    count, limit = 7, (400, 1000, 2500)[seed % 3]
    vectors = np.abs(chance.normal(size=(count, 3))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths = chance.integers(50, 400, count).tolist()
    opens = [True, *(chance.random(count - 1) < 0.5).tolist()]
    allowed = [
        [0, *inner, count]
        for size in range(count)
        for inner in combinations(range(1, count), size)
        if all(sum(lengths[a:b]) <= limit for a, b in pairwise([0, *inner, count]))
    ]
    found = best_division(vectors, lengths, opens, limit)
    assert found in allowed
    best = max(worth(vectors, lengths, opens, one, limit) for one in allowed)
    assert worth(vectors, lengths, opens, found, limit) == pytest.approx(best, abs=0.01)


def division(directions: str, lengths: str, opens: str, limit: str) -> list[int]:
    vectors = [(1.0, 0.0) if one == "A" else (0.0, 1.0) for one in directions]
    begins = [one == "+" for one in opens]
    return best_division(np.array(vectors, np.float32), list(map(int, lengths.split())), begins, int(limit))


def test_divisions_are_those_of_the_golden() -> None:
    check_golden(FIXTURES / "divisions.md", {"The best division": of_parts(division)})


def test_the_language_is_declared_or_detected() -> None:
    markers = load_markers()
    texts = {
        "en": "The house is on the hill and the garden is in front of it with all that you can see.",
        "es": "La casa está en la colina y el jardín que se ve desde allí es de los más bonitos.",
        "pt": "A casa fica na colina e o jardim que se vê dali não é dos mais bonitos, mas é nosso.",
        "de": "Das Haus steht auf dem Hügel und der Garten ist nicht so groß, aber die Rosen sind es.",
        "fr": "La maison est sur la colline et le jardin qui est devant n'est pas grand, mais il est beau.",
        "": "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor",
    }
    assert {language: detect(text, markers) for language, text in texts.items()} == {
        name: name for name in texts
    }


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

    english = built_in["en"]
    few = {"aa": frozenset({"one", "two", "three"}), "bb": frozenset({"uno", "dos"})}
    known = {name: replace(english, common=words) for name, words in few.items()}
    check_golden(
        FIXTURES / "markers.md",
        {
            "A language is known by a tenth of the words and a fifth more than the next": lambda text: detect(
                text, known
            ),
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
    sentence = "One sentence of the text stands here. "
    text = f"{sentence * 2}\n\nMutta tämä. {sentence}\n"
    assert len(cut("discourse", text, language="fi", **options)) == 1
    assert len(cut("discourse", text.replace("Mutta", "However"), language="en", **options)) == 2
