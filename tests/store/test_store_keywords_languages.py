"""A vault in many scripts: each language finds its notes by words of its own, the exact form first."""

from pathlib import Path

import pytest
from golden_cases import check_golden
from note_files import read_notes

from vault_indexer.store.keywords.index import KeywordIndex
from vault_indexer.store.keywords.schema import FieldWeights, KeywordDocument
from vault_indexer.text.language import detect
from vault_indexer.text.query import analyze_query
from vault_indexer.text.tokens import analyze

FIXTURES = Path(__file__).parent / "fixtures"
NOTES = read_notes(FIXTURES / "languages_vault.md")
"""By their language, and what tells those of one language apart."""

LANGUAGES = [
    *("en", "fr", "de", "es", "tr", "ru", "el", "zh", "ja", "ko", "th", "ar", "hi", "he", "fa", "pl", "vi")
]


@pytest.mark.parametrize("name", NOTES)
def test_each_note_is_of_its_language(name: str) -> None:
    assert detect(NOTES[name]) == name.split("-")[0]


def test_words_find_notes_as_the_golden_says(tmp_path: Path) -> None:
    index = KeywordIndex.create(tmp_path / "keywords")
    documents = [
        KeywordDocument(key, content=analyze(text, detect(text))) for key, text in enumerate(NOTES.values())
    ]
    index.apply(documents, [], 1)

    def found(query: str) -> list[str]:
        ranking = index.snapshot().search(analyze_query(query, LANGUAGES), FieldWeights(), 20)
        return [list(NOTES)[key] for key in ranking.keys.tolist()]

    check_golden(
        FIXTURES / "languages.md",
        {
            "A word of the language finds its note": lambda query: found(query)[0],
            "The other form is found, too, but later": lambda query: ", ".join(found(query)),
        },
    )
    assert found("cafe\u0301")[0] == "fr-café", "a mark of its own"
