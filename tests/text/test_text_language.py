"""Which language a text is taken for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts

from vault_indexer.text.language import detect, detect_note, detect_query

XQUAD = Path(__file__).parents[3] / "shared" / "data" / "bench" / "xquad"


def test_languages_are_those_of_the_golden() -> None:
    def query(text: str, languages: str) -> str:
        return detect_query(text, tuple(languages.split()))

    def choice(text: str, languages: str) -> str:
        return detect(text, languages.split())

    sections = {"text": detect, "query": of_parts(query), "choice": of_parts(choice), "note": detect_note}
    check_golden(Path(__file__).parent / "fixtures" / "language.md", sections)


@pytest.mark.parametrize(
    ("word", "language", "letters"), [("图书馆", "zh", 6), ("도서관", "ko", 6), ("กขค", "th", 3)]
)
def test_a_sign_says_as_much_as_some_letters(word: str, language: str, letters: int) -> None:
    assert detect(f"{word} {'z' * letters}") == language
    assert detect(f"{word} {'z' * (letters + 1)}") == ""


def test_code_in_a_note_does_not_hide_its_language() -> None:
    code = "```python\nfor the in of: is = to(and_, that)\n```\n" * 5
    assert detect(code + "Dies ist ein Beispiel, das nicht von der Sprache des Codes abhängt.") == "de"


@pytest.mark.data
@pytest.mark.skipif(not XQUAD.is_dir(), reason="needs ../shared/data")
@pytest.mark.parametrize("language", ["en", "es", "ru", "zh"])
def test_paragraphs_of_an_encyclopedia(language: str) -> None:
    articles = json.loads((XQUAD / f"xquad.{language}.json").read_text(encoding="utf-8"))["data"]
    paragraphs = [paragraph["context"] for article in articles for paragraph in article["paragraphs"]]
    right = sum(detect(paragraph) == language for paragraph in paragraphs)
    assert right >= 0.98 * len(paragraphs)


def test_only_the_first_2000_characters_of_prose_count() -> None:
    english = "this that which "
    assert detect(english * 125 + "zum aber noch " * 200) == "en"
    assert detect(f"`{'x' * 1990}` " + "zum aber noch " * 10 + english * 100) == "en"
    assert detect("`" + "x" * 4_100 + "` the the the the") == ""


ENGLISH = "the of and to in is that for it as was " * 2


@pytest.mark.parametrize(
    "other",
    [
        *(f"```\n{ENGLISH}\n```", f"~~~\n{ENGLISH}\n```\n~~~", f"```\n{ENGLISH}", f"`{ENGLISH}`"),
        *(f"{{{{{ENGLISH}\n}}}}", f"%%{ENGLISH}\n%%", f"<{ENGLISH}>", f"$$\n{ENGLISH}$$", f"$${ENGLISH}"),
        *(f"${ENGLISH}$", f"[[{ENGLISH}]]", f"![[{ENGLISH}]]", f"[x]({ENGLISH})"),
        f"ftp://{ENGLISH.replace(' ', '/')}",
    ],
)
def test_what_is_no_prose_does_not_hide_the_language_of_a_note(other: str) -> None:
    assert detect_note(f"Dies ist ein Beispiel zum Lesen\n{other}") == "de"
    assert detect_note(f"Dies ist ein Beispiel zum Lesen\n{ENGLISH}") == "en"
