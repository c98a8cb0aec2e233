"""A segment in memory and one on disk answer alike, and both say what was put into them."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.store.keywords.lexicon import Lexicon
from vault_indexer.store.keywords.memory_segment import (
    MemorySegment,
    TermCounts,
    count_terms,
    snapshot_of_documents,
)
from vault_indexer.store.keywords.postings import LiveSegment, PostingsCache, TermPostings
from vault_indexer.store.keywords.schema import FIELDS, FieldWeights, KeywordDocument
from vault_indexer.store.keywords.snapshot import KeywordSnapshot
from vault_indexer.store.keywords.whoosh_segment import Postings, SegmentBuilder, SegmentData, stored_lengths
from vault_indexer.system import LruCache
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import LONGEST_TERM

LONGEST = "l" * LONGEST_TERM
WORDS = ("ant", "bee", "dög", "检索", "~stem", "f" * 40, LONGEST, f"~{LONGEST[1:]}", LONGEST[1:])
Documents = st.lists(
    st.dictionaries(st.sampled_from(FIELDS), st.lists(st.sampled_from(WORDS), max_size=9), max_size=3),
    max_size=8,
)


def on_disk(folder: Path, documents: Sequence[KeywordDocument]) -> SegmentData:
    builder = SegmentBuilder(folder)
    for document in documents:
        builder.add(document)
    (segment,) = builder.finish()
    return SegmentData(folder, segment)


def in_memory(documents: Sequence[KeywordDocument]) -> MemorySegment:
    return MemorySegment([(one.key, terms_of(one)) for one in documents])


def terms_of(document: KeywordDocument) -> TermCounts:
    return count_terms({name: terms for name in FIELDS if (terms := getattr(document, name))})


@pytest.mark.posix("a file that is open is removed")
@given(Documents)
def test_a_segment_says_of_each_term_where_it_occurs_and_how_often(
    fields: list[dict[str, list[str]]],
) -> None:
    documents = [KeywordDocument(3 * number, **own) for number, own in enumerate([*fields, {}])]
    segments: list[MemorySegment | SegmentData] = [in_memory(documents)]
    with TemporaryDirectory() as folder:
        segments.append(on_disk(Path(folder), documents))
    for segment in segments:
        assert segment.size == len(documents)
        assert segment.keys.tolist() == [document.key for document in documents]
        for field in FIELDS:
            counted = [Counter(getattr(document, field)) for document in documents]
            assert segment.field_totals[field] == sum(own.total() for own in counted)
            assert stored_lengths()[segment.length_codes(field)].tolist() == [own.total() for own in counted]
            for word in (*WORDS, "none"):
                wanted = {number: own[word] for number, own in enumerate(counted) if word in own}
                found = segment.postings(field, word)
                held = zip(found.documents.tolist(), found.frequencies.tolist(), strict=True) if found else ()
                assert dict(held) == wanted
            longest = [number for number, own in enumerate(counted) if LONGEST in own]
            assert segment.longest_words[field].tolist() == longest


@pytest.mark.posix("a file that is open is removed")
@given(Documents)
def test_the_words_of_a_segment_are_those_that_some_text_holds(fields: list[dict[str, list[str]]]) -> None:
    documents = [KeywordDocument(number, **own) for number, own in enumerate([*fields, {}])]
    counts: dict[str, int] = {}
    for field in FIELDS:
        own = Counter(word for document in documents for word in set(getattr(document, field)))
        counts = {word: max(counts.get(word, 0), own[word]) for word in {*counts, *own}}
        plain = {word: count for word, count in counts.items() if not word.startswith("~")}
    with TemporaryDirectory() as folder:
        segment = on_disk(Path(folder), documents)
        for field in FIELDS:
            own = Counter(word for document in documents for word in set(getattr(document, field)))
            assert segment.frequencies(field) == dict(own)
    assert segment.words_with_prefix("") == segment.frequent_words(100) == plain
    assert segment.words_with_prefix("f") == {word: count for word, count in plain.items() if word[0] == "f"}
    assert not segment.has_read_words
    assert segment.words.with_prefix("") == plain
    assert segment.has_read_words


def test_a_length_beyond_the_largest_that_is_stored_counts_as_that() -> None:
    most = int(stored_lengths()[-1])
    segment = MemorySegment([(1, {"title": {"a": most + 1}}), (2, {"title": {"a": 1}})])
    assert stored_lengths()[segment.length_codes("title")].tolist() == [most, 1]
    assert segment.field_totals["title"] == most + 2


def test_documents_of_one_key_are_all_found_by_it(tmp_path: Path) -> None:
    segment = on_disk(tmp_path, [KeywordDocument(key, content=["a"]) for key in (5, 3, 5, 7, 5)])
    for keys, numbers in (([3, 5], [0, 1, 2, 4]), ([4, 7, 9], [3]), ([], []), ([3, 7], [1, 3])):
        assert sorted(segment.numbers_of(np.array(keys, np.int64)).tolist()) == numbers


def test_many_terms_are_found_by_their_whole_name(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(2_000)]
    segment = on_disk(tmp_path, [KeywordDocument(1, content=words, title=words[:5])])
    assert all(segment.postings("content", word) is not None for word in words)
    assert [segment.postings("title", word) is not None for word in words[:7]] == [True] * 5 + [False] * 2
    assert segment.postings("content", "word") is None
    assert segment.postings("tags", "word1") is None


@pytest.mark.parametrize("most", [1, 3, 4])
def test_a_full_segment_is_written_before_the_next_document(tmp_path: Path, most: int) -> None:
    builder = SegmentBuilder(tmp_path, max_documents=most)
    for key in range(4):
        builder.add(KeywordDocument(key, content=["a"]))
    sizes = [segment.doc_count_all() for segment in builder.finish()]
    assert sizes == [most] * (4 // most) + [4 % most] * (4 % most > 0)
    assert builder.finish() == []
    assert {path.suffix for path in tmp_path.iterdir()} == {".seg"}


class Named(MemorySegment):
    """A segment of its own name that counts what is read of it."""

    def __init__(self, name: str, *texts: str) -> None:
        super().__init__([(key, count_terms({"content": text.split()})) for key, text in enumerate(texts)])
        self.name = name
        self.reads = 0

    def postings(self, field: str, term: str) -> Postings | None:
        self.reads += 1
        return super().postings(field, term)


def live(*segments: Named) -> list[LiveSegment]:
    return [LiveSegment(segment, np.ones(segment.size, bool)) for segment in segments]


def test_postings_of_the_first_segments_that_two_states_share_are_kept() -> None:
    one, two, three = (
        Named("1", "ant bee", "bee bee"),
        Named("2", "bee", ""),
        Named("3", "cow bee", "ant", "bee"),
    )
    cache: PostingsCache = LruCache(1_000)
    states = [(one, two), (one, three), (one, two, three), (three, one), (), (one,), (two,)]
    for segments in [*states, *states]:
        kept = TermPostings(live(*segments), cache)
        fresh = TermPostings(live(*segments), LruCache(1_000))
        assert kept.bases == [0, *np.cumsum([segment.size for segment in segments]).tolist()]
        for term in ("ant", "bee", "cow", "none"):
            assert list(kept.frequencies(term)) == list(fresh.frequencies(term))
            for mine, theirs in zip(kept.of(term), fresh.of(term), strict=True):
                assert (mine is None) is (theirs is None)
                if mine is not None and theirs is not None:
                    assert mine.positions.tolist() == theirs.positions.tolist()
                    assert mine.frequencies.tolist() == theirs.frequencies.tolist()
                    assert all(before < after for before, after in pairwise(mine.positions.tolist()))
    before = one.reads
    for segments in ((one, two), (one, three)):
        TermPostings(live(*segments), cache).of("bee")
    TermPostings(live(one, three), cache).of("bee")
    assert one.reads == before + len(FIELDS), "once, after another segment stood first"


def test_a_search_of_documents_in_memory_is_that_of_the_same_on_disk(tmp_path: Path) -> None:
    texts = ["ant bee", "bee bee ant", "", "cow", "~stem ant"]
    documents = [
        KeywordDocument(key, content=text.split(), title=["ant"] * (key % 2))
        for key, text in enumerate(texts)
    ]
    memory = snapshot_of_documents([(one.key, terms_of(one)) for one in documents], 7, Lexicon([]))
    data = on_disk(tmp_path, documents)
    disk = KeywordSnapshot([LiveSegment(data, np.ones(data.size, bool))], 7, LruCache(9))
    assert (memory.seq, len(memory), memory.keys.tolist()) == (7, 5, [0, 1, 2, 3, 4])
    for words in (["ant"], ["bee", "cow"], ["~stem", "ant", "none"], ["none"]):
        terms = [QueryTerm.plain(word) for word in words]
        found, wanted = (one.search(terms, FieldWeights(), 9) for one in (memory, disk))
        assert found.keys.tolist() == wanted.keys.tolist()
        assert found.scores.tolist() == pytest.approx(wanted.scores.tolist())
