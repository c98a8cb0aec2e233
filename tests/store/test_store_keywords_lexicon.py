"""Completion, wildcards and corrections over the words of an index."""

import struct
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.store.keywords.index import KeywordIndex
from vault_indexer.store.keywords.lexicon import Lexicon, SegmentWords, edit_distances
from vault_indexer.store.keywords.memory_segment import Vocabulary
from vault_indexer.store.keywords.schema import KeywordDocument
from vault_indexer.store.keywords.snapshot import KeywordSnapshot
from vault_indexer.text.tokens import analyze

TEXTS = [
    "receive search searching receiver",
    "search searcher reception",
    "search sea server relieve",
    "検索 検査 実検",
    "snake_case config.toml",
]


@pytest.fixture
def snapshot(tmp_path: Path) -> KeywordSnapshot:
    index = KeywordIndex.create(tmp_path / "keywords")
    for key, text in enumerate(TEXTS):
        index.apply([KeywordDocument(key, content=analyze(text, "en"))], [], key)
    return index.snapshot()


@pytest.fixture
def lexicon(snapshot: KeywordSnapshot) -> Lexicon:
    return snapshot.lexicon


@given(st.lists(st.text("aäbc", min_size=1, max_size=5), max_size=12), st.text("abc", max_size=3))
def test_a_piece_is_compared_without_accents(words: list[str], piece: str) -> None:
    held = SegmentWords({word.encode(): 1 for word in words}).words_with(piece)
    assert set(held) == {word for word in words if piece in word.replace("ä", "a")}


def distance(a: str, b: str) -> int:
    """The textbook's table, for comparison."""
    table = [[i + j if i * j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            change = table[i - 1][j - 1] + (a[i - 1] != b[j - 1])
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, change)
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


Letters = st.text(alphabet="abcé検", min_size=1, max_size=7)


@given(Letters, st.lists(Letters, max_size=12))
def test_distances_are_those_of_the_textbook(word: str, others: list[str]) -> None:
    assert edit_distances(word, others) == [distance(word, other) for other in others]


@given(
    st.dictionaries(st.text("abcé検", min_size=1, max_size=4), st.integers(1, 9)),
    st.text("abé検", max_size=2),
)
def test_words_in_one_text_are_found_as_in_a_list(frequencies: dict[str, int], piece: str) -> None:
    words = SegmentWords({term.encode(): count for term, count in frequencies.items()})
    terms = sorted(frequencies)
    assert words.containing(piece) == [term for term in terms if piece in term]
    assert words.beyond_ascii() == [term for term in terms if not term.isascii()]
    near = {term: (distance("abc", term), frequencies[term]) for term in terms}
    assert words.near("abc", 1) == {term: found for term, found in near.items() if found[0] <= 1}


def test_words_are_found_in_a_segment_of_very_many() -> None:
    terms = [f"{number:x}w".encode() for number in range(150_000)]
    words = SegmentWords(dict.fromkeys(terms, 1))
    for number in (0, 65_535, 65_536, 131_072, 149_999):
        assert words.near(f"{number:x}w", 0) == {f"{number:x}w": (0, 1)}
    many = SegmentWords(dict.fromkeys([*(f"a{number:05}".encode() for number in range(65_536)), b"bz"], 1))
    assert many.near("a65535", 0) == {"a65535": (0, 1)}, "the last one before another letter"
    assert many.near("bz", 0) == {"bz": (0, 1)}


def test_the_longer_a_word_the_more_edits(tmp_path: Path) -> None:
    def corrected(held: str, typed: str) -> bool:
        index = KeywordIndex.create(tmp_path / f"{held} {typed}")
        index.apply([KeywordDocument(1, content=[held, "zzz"])], [], 1)
        found = [word.term for word in index.snapshot().lexicon.near(typed)]
        assert found in ([], [held])
        return bool(found)

    check_golden(Path(__file__).parent / "fixtures" / "edits.md", {"": of_parts(corrected)})


def test_the_words_of_one_segment_after_the_other_are_read(tmp_path: Path) -> None:
    index = KeywordIndex.create(tmp_path / "read")
    index.apply([KeywordDocument(number, content=["one", f"many{number}"]) for number in range(99)], [], 1)
    assert not index.snapshot().lexicon.is_partly_read
    index.snapshot().lexicon.load()
    index.apply([KeywordDocument(100, content=["two"])], [], 2)
    lexicon = index.snapshot().lexicon
    assert (lexicon.unread_segments, lexicon.is_partly_read) == (1, True)
    assert (lexicon.load_next(), lexicon.unread_segments, lexicon.load_next()) == (True, 0, False)


@pytest.mark.parametrize("length", [3, 30, 60])
def test_words_of_any_length_are_completed(tmp_path: Path, length: int) -> None:
    index = KeywordIndex.create(tmp_path / "long")
    words = ["a" * length + end for end in ("", "b", "c")]
    index.apply([KeywordDocument(1, content=["aa", *words, "ab"])], [], 1)
    lexicon = index.snapshot().lexicon
    for word, found in zip(words, (words, words[1:2], words[2:]), strict=True):
        assert [one.term for one in lexicon.with_prefix(word, 9)] == found


def test_words_of_up_to_24_letters_are_corrected() -> None:
    words = SegmentWords({b"a" * 24: 7, b"b" * 25: 7, b"c" * 23: 7})
    assert words.near("a" * 23 + "x", 1) == {"a" * 24: (1, 7)}
    assert words.near("b" * 24, 3) == {}
    assert words.near("a" * 25, 3) == {}
    assert words.near("c" * 24, 1) == {"c" * 23: (1, 7)}
    words.load()
    assert words.near("a" * 24, 0) == {"a" * 24: (0, 7)}


def test_a_term_is_found_by_its_name_alone() -> None:
    words = SegmentWords({"été".encode(): 5, b"ant": 2, b"ants": 3})
    asked = ("ant", "ants", "été", "a", "antz", "zz", "an", "\U0010ffff")
    assert [words.frequency(term) for term in asked] == [2, 3, 5, 0, 0, 0, 0, 0]
    assert words.with_prefix("ant") == {"ant": 2, "ants": 3}
    assert words.with_prefix("ants") == {"ants": 3}
    assert words.with_prefix("é") == {"été": 5}
    assert words.with_prefix("") == {"ant": 2, "ants": 3, "été": 5}
    assert SegmentWords({}).with_prefix("") == {}
    assert SegmentWords({}).frequency("ant") == 0


def test_segment_words_come_back_from_their_bytes() -> None:
    for frequencies in ({}, {b"ant": 2}, {"été".encode(): 70_000, b"ant": 2**32 - 1}):
        held = SegmentWords(frequencies)
        again = SegmentWords.from_bytes(held.to_bytes())
        assert again.with_prefix("") == {term.decode(): count for term, count in sorted(frequencies.items())}
    whole = SegmentWords({b"ant": 2, b"bee": 3}).to_bytes()
    for damaged in (b"", whole[:7], whole[:-1], whole[:-4], whole + bytes(4)):
        with pytest.raises((ValueError, struct.error)):
            SegmentWords.from_bytes(damaged)


def lexicon_of(*segments: dict[str, int]) -> Lexicon:
    return Lexicon([Vocabulary.of(frequencies) for frequencies in segments])


def test_frequencies_of_several_sources_are_added_and_equal_ones_stand_by_name() -> None:
    lexicon = lexicon_of({"bee": 2, "bat": 1, "cow": 9, "~stem": 9}, {"bat": 1, "bear": 1, "bee": 1, "b": 1})
    assert lexicon.with_prefix("b", 9) == [("bee", 3), ("bat", 2), ("b", 1), ("bear", 1)]
    assert lexicon.with_prefix("b", 2) == [("bee", 3), ("bat", 2)]
    assert lexicon.frequent(2) == [("cow", 9), ("bee", 3)]
    assert lexicon.matching("b?t", 9) == [("bat", 2)]
    assert lexicon.matching("b*", 3) == [("bee", 3), ("bat", 2), ("b", 1)]
    assert lexicon.matching("*e*", 9) == [("bee", 3), ("bear", 1)]
    assert dict(lexicon.words_with("be")) == {"bee": 3, "bear": 1}
    assert sorted(lexicon.containing("ea")) == ["bear"]
    assert sorted(lexicon.containing("ba")) == ["bat", "bat"]
    assert not lexicon.is_partly_read
    assert lexicon.unread_segments == 0
    assert not lexicon.load_next()


def test_the_two_most_frequent_of_each_source_decide_what_is_frequent() -> None:
    lexicon = lexicon_of({"a": 9, "b": 8, "c": 7}, {"c": 9, "d": 8, "e": 1})
    assert lexicon.frequent(1) == [("a", 9)]
    assert lexicon.frequent(2) == [("c", 16), ("a", 9)]


def test_spellings_are_those_that_marks_set_apart() -> None:
    lexicon = lexicon_of({"cafe": 1, "café": 1, "cafés": 1}, {"cafè": 1})
    assert lexicon.spellings("cafe") == ["cafe", "café", "cafè"]
    assert lexicon.spellings("none") == ["none"]


def test_five_words_may_be_meant_the_likeliest_first() -> None:
    words = {"carts": 1, "carta": 1, "cartb": 50, "cartc": 1, "cartd": 1, "carte": 1, "cart": 90, "dart": 1}
    found = lexicon_of(words, {"carta": 1}).near("cart")
    assert found == [("cartb", 50), ("carta", 2), ("cartc", 1), ("cartd", 1), ("carte", 1)]
    assert lexicon_of(words).near("cart", 1) == [("cartb", 50)]
    assert [word.term for word in lexicon_of({"dart": 14, "cast": 1}).near("cart")] == ["dart", "cast"]
    assert [word.term for word in lexicon_of({"dart": 13, "cast": 1}).near("cart")] == ["cast", "dart"]


@pytest.mark.parametrize(("limit", "expected"), [(0, {}), (1, {"c": 9}), (3, {"c": 9, "a": 5, "b": 5})])
def test_the_frequent_words_of_a_vocabulary(limit: int, expected: dict[str, int]) -> None:
    found = Vocabulary.of({"b": 5, "a": 5, "c": 9, "d": 1, "~e": 99}).frequent_words(limit)
    assert list(found.items()) == list(expected.items())
