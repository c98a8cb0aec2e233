"""Words and phrases as expressions over the text as it is."""

import json
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.search.filters.text_pattern import SearchedText, plain, text_pattern


def found(words: str, text: str) -> str | None:
    span = next(text_pattern(words).spans(text), None)
    return span and text[slice(*span)]


def found_in_json(words: str, text: str) -> str:
    return ascii(found(words, json.loads(text)))


def test_a_phrase_finds_what_the_golden_says() -> None:
    sections = {
        "": of_parts(found),
        "Other ways to write a letter": of_parts(found_in_json),
        "Lower case is enough where no letter stands for another": lambda text: repr(
            SearchedText(json.loads(text)).lowered
        ),
    }
    check_golden(Path(__file__).parent / "fixtures" / "found.md", sections)


LETTERS = st.text(st.sampled_from("abcdeéßñAÉ"), min_size=1, max_size=4)


@given(
    st.lists(LETTERS, min_size=1, max_size=3), st.lists(LETTERS, max_size=3), st.lists(LETTERS, max_size=3)
)
def test_a_phrase_is_found_between_any_words(phrase: list[str], before: list[str], after: list[str]) -> None:
    text = " ".join([*before, *phrase, *after])
    assert text_pattern(plain(" ".join(phrase))).is_in(text)


@given(st.lists(LETTERS, min_size=1, max_size=3), st.lists(LETTERS, max_size=8))
def test_a_phrase_is_found_only_where_its_words_stand_in_a_row(phrase: list[str], words: list[str]) -> None:
    wanted, held = [plain(word) for word in phrase], [plain(word) for word in words]
    in_a_row = any(held[at : at + len(wanted)] == wanted for at in range(len(held)))
    assert text_pattern(" ".join(phrase)).is_in(" ".join(words)) == in_a_row


@given(st.lists(LETTERS, min_size=1, max_size=3), st.text(st.sampled_from("ab éß.\nA"), max_size=30))
def test_the_quick_way_finds_what_the_other_finds(phrase: list[str], text: str) -> None:
    pattern = text_pattern(" ".join(phrase))
    assert list(pattern.spans(text)) == [found.span() for found in pattern.regex.finditer(text)]


LATIN = [
    *("the", "The", "of", "é", "e", "E", "e\u0301", "straße", "strasse", "ﬁn", "\u212a", "K", "ø", "þ", "th")
]
WORDS = [*LATIN, "th", "日本", "й", "क़", "x_the", "C++", "don’t", "\u200c", "İ"]
SIGNS = [" ", "  ", "-", ", ", "\n", "\n\n", "—", "\u00ad"]
MIXED = st.lists(st.sampled_from([*WORDS, *SIGNS]), max_size=12)
FILLER = "— wer liest, liest über Bücher. " * 4


@given(MIXED, MIXED, MIXED, st.integers(0, 20), st.integers(0, 20))
def test_the_scan_of_bytes_finds_what_the_exact_expression_finds(
    phrase: list[str], before: list[str], after: list[str], skipped: int, left_out: int
) -> None:
    pattern = text_pattern(" ".join(phrase))
    text = "".join([*before, FILLER, " ", *phrase, " ", *after])
    start, end = min(skipped, len(text)), max(len(text) - left_out, 0)
    wanted = [found.span() for found in pattern.regex.finditer(text, start, end)]
    assert list(pattern.spans(SearchedText(text.encode()), start, end)) == wanted


@given(MIXED, MIXED, MIXED, st.booleans())
def test_no_text_with_a_phrase_is_scanned_in_vain(
    phrase: list[str], before: list[str], after: list[str], match_case: bool
) -> None:
    pattern = text_pattern(" ".join(phrase), match_case=match_case)
    for text in ("".join([*before, " ", *phrase, " ", *after]), "".join([*before, *after, *phrase])):
        data = text.encode()
        if pattern.scanner and pattern.is_in(text):
            assert pattern.scanner.next_start(data, 0, len(data)) is not None


def test_phrases_are_those_of_the_golden() -> None:
    def scanned(words: str, case: str, text: str) -> int | None:
        scanner = text_pattern(words, match_case=case == "case").scanner
        assert scanner
        return scanner.next_start(text.encode(), 0, len(text.encode()))

    def own_case(words: str, text: str) -> list[str]:
        pattern = text_pattern(words, match_case=True)
        found = [text[slice(*span)] for span in pattern.spans(text)]
        searched = SearchedText(f"{FILLER} {text}".encode())
        assert [searched.text[slice(*span)] for span in pattern.spans(searched)] == found
        return found

    def terms(words: str) -> tuple[object, ...]:
        found = text_pattern(words)
        return found.words, found.pairs, found.begins, found.pieces

    check_golden(
        Path(__file__).parent / "fixtures" / "phrase_terms.md",
        {
            "A scan refuses what the index cannot": of_parts(scanned),
            "A phrase in its own case is found in that alone": of_parts(own_case),
            "Words, pairs, begins and pieces": of_parts(terms),
        },
    )
    assert own_case("É", "é É E e\u0301 E\u0301") == ["É", "E", "E\u0301"]


@pytest.mark.parametrize(
    ("words", "found", "behind"),
    [
        ("C++", "C++", "x"),
        ("->a", "->a", " x"),
        ("a b c d e f g 検x", "a b c d e f g 検x", ""),
        ("a b c d e f g h.x", "a b c d e f g h.x", ""),
        ("日本 the", "日本the", "本"),
        ("the 日本", "the 日本", "x"),
        ("a  . b", "A\u00a0 .\nB", "."),
    ],
)
def test_a_scan_finds_a_phrase_beside_any_characters(words: str, found: str, behind: str) -> None:
    pattern = text_pattern(words)
    text = f"{found}{behind} {FILLER} –{found}{behind}"
    assert pattern.scanner
    data = text.encode()
    assert pattern.scanner.next_start(data, 0, len(data)) == 0
    assert [text[slice(*span)] for span in pattern.spans(SearchedText(data))] == [found, found]


def test_equal_phrases_are_one_key() -> None:
    keys = {text_pattern("The"), text_pattern(" The "), text_pattern("The", match_case=True)}
    assert len(keys) == 2
    assert len({hash(one) for one in keys}) == 2


@pytest.mark.parametrize("text", ["", "plain", "é–x", "日本\n語", "\U0001f600a"])
def test_the_places_of_characters_and_bytes_belong_together(text: str) -> None:
    searched = SearchedText(text)
    for position in range(len(text) + 1):
        assert searched.byte_at(position) == len(text[:position].encode())
        assert searched.char_at(searched.byte_at(position)) == position
    assert SearchedText(text.encode()).text == text
    assert searched.encoded == text.encode()
