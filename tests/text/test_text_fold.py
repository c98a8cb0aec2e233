"""One spelling of a word: its exact form, its form without marks, its stem, and a tag's name."""

from __future__ import annotations

from pathlib import Path

from golden_cases import check_golden, of_escapes, of_parts

from vault_indexer.text.fold import fold, normalize, tag_name
from vault_indexer.text.query import other_kana
from vault_indexer.text.stem import stem, stem_with_marks


def test_spellings_are_those_of_the_golden() -> None:
    def kana(text: str) -> str:
        return " ".join(other_kana(text))

    forms = {"exact": normalize, "folded": fold, "tag": tag_name, "kana": kana}
    sections = {name: of_escapes(form) for name, form in forms.items()}
    check_golden(Path(__file__).parent / "fixtures" / "spellings.md", sections)


def test_stems_are_those_of_the_golden() -> None:
    def stems(word: str, language: str) -> str:
        return f"{stem_with_marks(word, language)} {stem(word, language)}"

    check_golden(Path(__file__).parent / "fixtures" / "stems.md", {"stem": of_parts(stems)})
