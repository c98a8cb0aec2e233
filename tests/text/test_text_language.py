"""Which language a text is taken for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vault_indexer.text.language import detect, detect_note, detect_query

XQUAD = Path(__file__).parents[3] / "shared" / "data" / "bench" / "xquad"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The quick way to find what you have written is to search for it.", "en"),
        ("Die Suche findet alles, was in den Notizen steht, und zeigt es an.", "de"),
        ("La búsqueda encuentra todo lo que está en las notas.", "es"),
        ("La recherche trouve tout ce qui est dans les notes.", "fr"),
        ("A pesquisa encontra tudo o que está nas notas e não precisa de internet.", "pt"),
        ("La ricerca trova tutto quello che è nelle note della cartella.", "it"),
        ("Zoeken vindt alles wat er in de notities staat.", "nl"),
        ("Поиск находит всё, что написано в заметках.", "ru"),
        ("Пошук знаходить усе, що є в нотатках.", "uk"),
        ("搜索可以找到笔记中的所有内容。", "zh"),
        ("検索するとノートの内容が見つかります。", "ja"),
        ("검색하면 노트의 내용을 찾을 수 있습니다.", "ko"),
        ("การค้นหาจะพบทุกสิ่งในบันทึก", "th"),
        ("Η αναζήτηση βρίσκει τα πάντα.", "el"),
        ("البحث يجد كل شيء في الملاحظات التي كتبتها من قبل", "ar"),
        ("fn main() { println!(1); }", ""),
        ("", ""),
        # letters that few languages share
        ("Zażółć gęślą jaźń", "pl"),
        ("žluťoučký kůň", "cs"),
        ("çalışma ağacı", "tr"),
        ("őrült űr", "hu"),
        # the share of its words
        ("the" + " x" * 11, "en"),  # one of twelve words
        ("the" + " x" * 12, ""),
        ("zum the", ""),  # as much as the other
        ("die der", "de"),  # words of several languages say less, and together enough
        ("ñ zz zz", "es"),  # a letter says a quarter of a word
        ("ñ zz zz zz", ""),
        ("и й", ""),
        # the share of a script among the letters
        ("の" + "検" * 9, "ja"),
        ("の" + "検" * 10, "zh"),
        ("の" * 5 + "検" * 45, "ja"),
        ("の" * 5 + "検" * 46, "zh"),
        ("の" + "a" * 9, "ja"),
        ("の" + "a" * 10, ""),
        ("検aa", "zh"),
        ("検aaa", ""),
        ("αa", "el"),
        ("αaa", ""),
    ],
)
def test_a_text_tells_its_language(text: str, language: str) -> None:
    assert detect(text) == language


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


@pytest.mark.parametrize(
    ("query", "languages", "expected"),
    [
        ("change many file names by a pattern", ("en", "cs"), "en"),
        ("how do I convert a video to a gif?", ("en", "es", "cs"), "en"),
        ("¿cómo puedo ver el historial de cambios?", ("en", "es", "cs"), "es"),
        ("wie kann man das und wer war nicht im Haus", ("en", "cs"), "de"),
        ("blackbird", ("en", "cs"), ""),
        ("как это было", (), "ru"),
        ("история Москвы", ("en",), "ru"),
        ("погода Київ", ("en", "uk"), "uk"),
        ("تهران", ("en", "fa"), "fa"),
        ("दिल्ली मौसम", (), "hi"),
        ("zum" + " x" * 9, ("en",), "de"),  # a tenth of the words
        ("zum" + " x" * 10, ("en",), ""),
        ("zum aber the", ("en",), "de"),  # twice as many as for the vault's
        ("zum aber noch this the", ("en",), "en"),
        ("zum aber this", ("en", "de"), "de"),
        ("zum aber noch this the", ("en", "de"), "en"),
        ("zum aber noch einer this the", ("en", "de"), "de"),
        ("zum this", ("en", "de"), ""),
        ("検索の", ("en", "ja"), "ja"),
        ("история", ("en", "bg", "ru"), "bg"),
        ("ияя xx", ("en",), "ru"),
        ("x", ("en",), ""),
    ],
)
def test_a_query_is_in_the_main_language_unless_words_or_letters_tell_another(
    query: str, languages: tuple[str, ...], expected: str
) -> None:
    assert detect_query(query, languages) == expected


@pytest.mark.parametrize(
    ("text", "among", "language"),
    [
        ("the der das zum", ["de"], "de"),
        ("the der das zum", ["en"], "en"),
        ("the der das zum", ["fr"], ""),
        ("the der das zum", ["pt", "en"], "en"),
        ("¿Quién fundó la ciudad?", ["es", "pt"], "es"),
        ("搜索", ["en"], ""),
    ],
)
def test_of_a_choice_the_best_one_counts_whatever_else_the_text_says(
    text: str, among: list[str], language: str
) -> None:
    assert detect(text, among) == language


def test_only_the_first_2000_characters_of_prose_count() -> None:
    english = "this that which "
    assert detect(english * 125 + "zum aber noch " * 200) == "en"
    assert detect(f"`{'x' * 1990}` " + "zum aber noch " * 10 + english * 100) == "en"
    assert detect("`" + "x" * 4_100 + "` the the the the") == ""


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("zum aber noch abcdefghi", "de"),  # 20 letters
        ("zum aber noch abcdefgh", ""),
        ("日本の", "ja"),
        ("ñ" + "a" * 20, "es"),
        ("и й о ы" + " ёж" * 10, "ru"),
        ("日本語の短いメモ", "ja"),
        ("der Hund", ""),
        # what is no prose tells nothing
        ("$$ a + v = z $$ where $a$, $v$, $z$, $o$ and $k$", ""),
        ("[[Der Hund und die Katze]] [[Das Haus und der Garten]]\n", ""),
        ("$$ a + v = z $$\n\nMan sieht, dass die [[Summe of the parts]] nicht größer ist als $z$.\n", "de"),
    ],
)
def test_a_note_tells_its_language_by_20_letters_of_prose_or_a_script(text: str, language: str) -> None:
    assert detect_note(text) == language


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
