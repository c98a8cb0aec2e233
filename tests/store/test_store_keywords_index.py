"""The keyword index as a whole: commits, snapshots, damage, crashes, parallel builds."""

from __future__ import annotations

import re
import shutil
import weakref
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from vault_indexer.errors import IndexUnusableError
from vault_indexer.store.keywords.index import (
    COMMIT_RECORD_NAME,
    Checksum,
    KeywordIndex,
    check_files,
    checksum_of,
    read_commit_record,
    write_commit_record,
)
from vault_indexer.store.keywords.schema import FieldWeights, KeywordDocument
from vault_indexer.store.keywords.snapshot import KeywordSnapshot
from vault_indexer.store.keywords.whoosh_segment import SegmentBuilder, SegmentData
from vault_indexer.system import gc_paused
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    from whoosh.codec.whoosh3 import W3Segment


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "keywords"


@pytest.fixture
def index(folder: Path) -> KeywordIndex:
    return KeywordIndex.create(folder)


def note(key: int, text: str) -> KeywordDocument:
    return KeywordDocument(key, content=text.split())


def hits(snapshot: KeywordSnapshot, *words: str, limit: int = 10) -> list[int]:
    ranking = snapshot.search([QueryTerm.plain(word) for word in words], FieldWeights(), limit)
    return [int(key) for key in ranking.keys]


def test_keys_are_whole_64_bit_numbers_and_an_empty_index_answers(index: KeywordIndex, folder: Path) -> None:
    assert hits(index.snapshot(), "word") == []
    assert (index.applied_seq, index.keys()) == (0, set())
    assert index.snapshot().explain([1], [QueryTerm.plain("word")], FieldWeights()) == [()]
    assert KeywordIndex.open(folder).applied_seq == 0
    keys = [0, -1, 2**63 - 1, -(2**63)]
    index.apply([note(key, "same") for key in keys], [], 1)
    assert KeywordIndex.open(folder).keys() == set(keys)
    assert hits(index.snapshot(), "same") == sorted(keys)


def test_a_filter_comes_before_the_cut(index: KeywordIndex) -> None:
    index.apply([note(key, "word " * (100 - key)) for key in range(1, 60)], [], 1)
    index.apply([], [30], 2)
    for allowed, limit, expected in (
        ([30, 40, 57, 1000], 1, [40]),
        ([30, 40, 57, 1000], 9, [40, 57]),
        ([], 9, []),
    ):
        keys = np.array(allowed, np.int64)
        ranking = index.snapshot().search([QueryTerm.plain("word")], FieldWeights(), limit, keys)
        assert ranking.keys.tolist() == expected


def test_a_snapshot_stays_as_it_was(index: KeywordIndex) -> None:
    index.apply([note(1, "old words")], [], 1)
    before = index.snapshot()
    for seq in range(2, 12):
        index.apply([note(seq, "old words")], [seq - 1], seq)
    index.compact()
    assert (before.seq, hits(before, "old"), hits(before, "words")) == (1, [1], [1])
    assert hits(index.snapshot(), "old") == [11]


def test_a_merged_segment_is_closed_with_the_last_snapshot_that_reads_it(index: KeywordIndex) -> None:
    """At once: the garbage collector may come late, and Windows removes no file that is open."""
    with gc_paused():
        index.apply([note(1, "word")], [], 1)
        first = weakref.ref(index.snapshot()._segments[0].data)
        for seq in range(2, 6):
            assert hits(index.snapshot(), "word")
            assert [word.term for word in index.snapshot().lexicon.words_with("wor")] == ["word"]
            assert first() is not None
            index.apply([note(seq, "word")], [], seq)
        assert first() is None


def test_threads_may_read_while_another_commits(index: KeywordIndex) -> None:
    index.apply([note(key, f"shared word{key}") for key in range(50)], [], 1)

    def read(turn: int) -> bool:
        snapshot = index.snapshot()
        found = hits(snapshot, "shared", f"word{turn % 50}", limit=100)
        return sorted(found) == snapshot.keys.tolist() and found[0] == turn % 50

    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(read, turn) for turn in range(200)]
        for seq in range(2, 20):
            index.apply([note(100 + seq, "shared")], [], seq)
    assert all(answer.result() for answer in answers)


def many_segments(index: KeywordIndex) -> None:
    """Five of a size that no commit merges any more."""
    for first in range(0, 3000, 600):
        documents = [note(key, f"common word{key}") for key in range(first, first + 600)]
        index.apply(documents, [], index.applied_seq + 1)


def test_large_segments_are_not_merged_by_a_commit_but_by_tidying(index: KeywordIndex) -> None:
    many_segments(index)
    index.apply([note(5000, "common")], [1], 6)
    assert (index.segment_count, index.needs_merge) == (6, True)
    index.merge_segments()
    assert (index.segment_count, index.needs_merge) == (2, False)
    assert index.keys() == {*range(3000), 5000} - {1}
    assert (index.applied_seq, hits(index.snapshot(), "word2")) == (6, [2])


def test_what_is_committed_beside_tidying_stays(index: KeywordIndex, folder: Path) -> None:
    many_segments(index)
    beside = KeywordIndex.open(folder)
    index.apply([note(7, "another text"), note(6000, "new")], [1, 2], 6)
    beside.merge_segments()  # of the segments as they were before that commit
    after = index.refresh()
    assert (index.segment_count, index.applied_seq) == (2, 6)
    assert set(after.keys.tolist()) == {*range(3000), 6000} - {1, 2}
    found = [hits(after, word) for word in ("another", "word7", "word2", "new")]
    assert found == [[7], [], [], [6000]]
    KeywordIndex.open(folder).verify()


def test_tidying_that_comes_too_late_changes_nothing(index: KeywordIndex, folder: Path) -> None:
    many_segments(index)
    late = KeywordIndex.open(folder)
    index.compact()
    files = sorted(path.name for path in folder.iterdir())
    late.merge_segments()
    assert sorted(path.name for path in folder.iterdir()) == files
    assert (index.refresh(), index.keys()) == (index.snapshot(), set(range(3000)))


def test_the_largest_document_frequency_is_that_of_the_most_frequent_term(index: KeywordIndex) -> None:
    index.apply([note(1, "apple pear"), note(2, "pear"), note(3, "plum")], [], 1)
    snapshot = index.snapshot()
    assert snapshot.largest_document_frequency(("apple", "pear", "plum")) == 2
    assert snapshot.largest_document_frequency(("apple", "quince")) == 1
    assert snapshot.largest_document_frequency(("quince",)) == 0
    assert snapshot.largest_document_frequency(()) == 0


def build(folder: Path, first: int, count: int) -> list[W3Segment]:
    builder = SegmentBuilder(folder, max_documents=50)
    for key in range(first, first + count):
        builder.add(note(key, f"common word{key}"))
    return builder.finish()


@pytest.mark.long
def test_processes_build_segments_that_one_commit_adopts(index: KeywordIndex, folder: Path) -> None:
    index.apply([note(5000, "common before")], [], 1)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(build, [folder] * 2, [0, 1000], [120, 30]))
    assert index.keys() == {5000}
    index.adopt([segment for part in parts for segment in part], 9)
    reopened = KeywordIndex.open(folder)
    assert reopened.keys() == {*range(120), *range(1000, 1030), 5000}
    assert reopened.applied_seq == 9
    assert hits(reopened.snapshot(), "word1007") == [1007]
    assert reopened.segment_count == 5


@pytest.mark.parametrize(("most", "sizes"), [(3, [2, 2]), (4, [4]), (5, [4])])
def test_segments_that_are_joined_grow_no_larger_than_allowed(
    folder: Path, most: int, sizes: list[int]
) -> None:
    parts = [*build(folder, 0, 2), *build(folder, 10, 3)]
    joined = SegmentBuilder(folder, max_documents=most)
    for segment in parts:
        data = SegmentData(folder, segment)
        joined.add_segment(data, data.keys != 11)
    assert [segment.doc_count_all() for segment in joined.finish()] == sizes


def with_a_flipped_bit(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :]


HARMS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut": lambda data: data[: len(data) // 2],
    "zeros": lambda data: data[: len(data) // 4] + bytes(len(data) // 4) + data[len(data) // 4 * 2 :],
    "a bit": with_a_flipped_bit,
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_every_damaged_file_is_noticed(
    index: KeywordIndex, folder: Path, tmp_path: Path, harm: Callable[[bytes], bytes]
) -> None:
    index.apply([note(key, f"some words {key}") for key in range(30)], [3], 1)
    names = [path.name for path in folder.iterdir()]
    assert len(names) == 3
    for name in names:
        copy = tmp_path / f"copy-{name}"
        shutil.copytree(folder, copy)
        (copy / name).write_bytes(harm((copy / name).read_bytes()))
        with pytest.raises(IndexUnusableError, match=re.escape(str(copy))):
            KeywordIndex.open(copy)
        (copy / name).unlink()
        with pytest.raises(IndexUnusableError, match=re.escape(str(copy))):
            KeywordIndex.open(copy)


@pytest.mark.posix("a file that is open is changed")
def test_verify_notices_damage_while_the_index_is_open(index: KeywordIndex, folder: Path) -> None:
    index.apply([note(1, "words")], [], 1)
    index.verify()
    (segment,) = folder.glob("*.seg")
    segment.write_bytes(with_a_flipped_bit(segment.read_bytes()))
    with pytest.raises(IndexUnusableError, match=segment.name):
        index.verify()


def test_an_index_with_the_former_name_of_its_record_is_opened(index: KeywordIndex, folder: Path) -> None:
    index.apply([note(1, "kept")], [], 1)
    (folder / COMMIT_RECORD_NAME).rename(folder / "SEAL")
    former = KeywordIndex.open(folder)
    assert hits(former.snapshot(), "kept") == [1]
    former.apply([note(2, "added")], [], 2)
    assert not (folder / "SEAL").exists()
    assert hits(KeywordIndex.open(folder).snapshot(), "added") == [2]


def test_a_commit_that_ended_before_its_record_never_happened(index: KeywordIndex, folder: Path) -> None:
    index.apply([note(1, "kept")], [], 1)
    record = (folder / COMMIT_RECORD_NAME).read_bytes()
    old = {path.name: path.read_bytes() for path in folder.iterdir()}
    index.apply([note(2, "lost")], [1], 2)
    for name, data in old.items():  # what the crash would have left: new files beside the old ones
        (folder / name).write_bytes(data)
    (folder / COMMIT_RECORD_NAME).write_bytes(record)
    (folder / ".build-0000").mkdir()

    reopened = KeywordIndex.open(folder)
    assert (reopened.applied_seq, hits(reopened.snapshot(), "kept", "lost")) == (1, [1])
    reopened.apply([note(3, "next")], [], 2)
    assert KeywordIndex.open(folder).keys() == {1, 3}
    assert {path.suffix for path in folder.iterdir()} == {"", ".seg", ".toc"}
    assert len(list(folder.glob("*.toc"))) == 1


def test_a_reader_follows_the_commits_of_a_writer(index: KeywordIndex, folder: Path) -> None:
    reader = KeywordIndex.open(folder)
    for seq in range(1, 15):
        index.apply([note(seq, "word")], [seq - 2], seq)
        assert hits(reader.refresh(), "word") == [key for key in (seq - 1, seq) if key]
    assert reader.refresh() is reader.snapshot()


def test_a_folder_that_is_no_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusableError, match="No such file"):
        KeywordIndex.open(tmp_path)
    (tmp_path / "something").write_text("else")
    with pytest.raises(IndexUnusableError, match="not empty"):
        KeywordIndex.create(tmp_path)
    with pytest.raises(IndexUnusableError, match=re.escape(f"cannot write {tmp_path / 'something'}")):
        KeywordIndex.create(tmp_path / "something")


def test_a_segment_that_windows_kept_does_not_stand_in_the_way(index: KeywordIndex, folder: Path) -> None:
    index.apply([note(1, "kept")], [], 1)
    for file in folder.iterdir():
        if file.suffix != ".seg":
            file.unlink()
    again = KeywordIndex.create(folder)
    assert hits(again.snapshot(), "kept") == []
    again.apply([note(2, "new")], [], 2)
    assert hits(again.snapshot(), "new") == [2]


def test_a_missing_adopted_segment_changes_nothing(index: KeywordIndex, folder: Path) -> None:
    index.apply([note(1, "kept")], [], 1)
    (segment,) = build(folder, 10, 3)
    (folder / segment.make_filename(".seg")).unlink()
    with pytest.raises(IndexUnusableError, match="cannot write"):
        index.adopt([segment], 2)
    assert (index.applied_seq, index.keys()) == (1, {1})
    index.apply([note(2, "next")], [], 2)
    assert KeywordIndex.open(folder).keys() == {1, 2}


def test_long_lists_of_postings_are_read_as_they_were_written_by_whoosh_too(
    index: KeywordIndex, folder: Path
) -> None:
    from whoosh import index as whoosh

    frequencies = {"one": [1], "few": [1, 255], "many": [1, 300], "most": [70_000, 1]}

    def words_of(key: int) -> list[str]:
        return [word for word, counts in frequencies.items() for _ in range(counts[key % len(counts)])]

    documents = [KeywordDocument(key, content=words_of(key) if key % 40 < 20 else []) for key in range(60)]
    index.apply(documents, [], 1)
    (segment,) = index.snapshot()._segments
    with whoosh.open_dir(str(folder)).searcher() as searcher:
        for word, counts in frequencies.items():
            found = segment.data.postings("content", word)
            assert found is not None
            wanted = {key: counts[key % len(counts)] for key in range(60) if key % 40 < 20}
            read = zip(found.documents.tolist(), found.frequencies.tolist(), strict=True)
            assert dict(read) == wanted
            matcher = searcher.postings("content", word)
            theirs = {}
            while matcher.is_active():
                theirs[matcher.id()] = matcher.weight()
                matcher.next()
            assert theirs == wanted


def test_a_commit_record_of_another_version_is_refused_by_name(index: KeywordIndex, folder: Path) -> None:
    index.apply([note(1, "red fox")], [], 1)
    record = folder / COMMIT_RECORD_NAME
    body = record.read_bytes().partition(b"\n")[2].rstrip(b"\n").replace(b'{"seq"', b'{"later":1,"seq"')
    record.write_bytes(b"%08x\n%s\n" % (zlib.crc32(body), body))
    with pytest.raises(IndexUnusableError, match="not a commit record of this version"):
        KeywordIndex.open(folder)


def test_what_an_interrupted_commit_has_left_goes_with_the_next_one(
    index: KeywordIndex, folder: Path
) -> None:
    index.apply([note(1, "red fox")], [], 1)
    (folder / "left.seg").write_bytes(b"half a segment")
    (folder / "left.build").mkdir()
    (folder / "other.txt").write_text("of somebody else")
    later = KeywordIndex.open(folder)
    later.apply([note(2, "red hen")], [], 2)
    assert not (folder / "left.seg").exists()
    assert not (folder / "left.build").exists()
    assert (folder / "other.txt").exists()
    assert hits(KeywordIndex.open(folder).snapshot(), "red") == [1, 2]


def checksum(content: bytes) -> Checksum:
    return Checksum(size=len(content), crc=zlib.crc32(content))


def test_a_commit_record_names_each_file_with_its_size_and_checksum(
    index: KeywordIndex, folder: Path
) -> None:
    index.apply([note(1, "red fox")], [], 7)
    record = read_commit_record(folder)
    assert (record.seq, record.generation) == (7, 2)
    others = (path for path in folder.iterdir() if path.name != COMMIT_RECORD_NAME)
    assert record.files == {path.name: checksum(path.read_bytes()) for path in others}


@pytest.mark.parametrize("content", [bytes(range(256)) * 10_000, b""])
def test_the_checksum_of_a_file_of_any_size_is_that_of_all_its_bytes(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    assert checksum_of(tmp_path / "file") == checksum(content)


def test_what_is_known_of_a_file_is_not_read_again(tmp_path: Path) -> None:
    known = {"there": Checksum(size=1, crc=2)}
    (tmp_path / "fresh").write_bytes(b"xyz")
    record = write_commit_record(tmp_path, 5, 6, ["there", "fresh"], known)
    assert record == read_commit_record(tmp_path)
    assert record.files == {**known, "fresh": checksum(b"xyz")}
    assert list(record.files) == ["fresh", "there"]


@pytest.mark.posix("a file that is open is changed")
@pytest.mark.parametrize("is_full", [False, True])
def test_a_quick_look_at_the_files_compares_their_sizes(
    index: KeywordIndex, folder: Path, is_full: bool
) -> None:
    index.apply([note(1, "red fox")], [], 1)
    (segment,) = folder.glob("*.seg")
    content = segment.read_bytes()
    segment.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    if is_full:
        with pytest.raises(IndexUnusableError, match="is damaged"):
            KeywordIndex.open(folder)
    else:
        check_files(folder, read_commit_record(folder), full=False)
    segment.write_bytes(content + b"x")
    with pytest.raises(IndexUnusableError, match=r"size or checksum differs"):
        KeywordIndex.open(folder, check=is_full)
    segment.unlink()
    with pytest.raises(IndexUnusableError, match=f"{segment.name}: No such file"):
        KeywordIndex.open(folder, check=is_full)


@pytest.mark.posix("a file that is open is changed")
def test_a_file_that_its_checksum_fits_and_nobody_can_read_is_refused(
    index: KeywordIndex, folder: Path
) -> None:
    index.apply([note(1, "red fox")], [], 1)
    record = read_commit_record(folder)
    for name in record.files:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(b"\x01" * 40)
        write_commit_record(folder, record.seq, record.generation, record.files, {})
        with pytest.raises(
            IndexUnusableError, match=f"keyword index: {re.escape(str(folder))} cannot be read"
        ):
            KeywordIndex.open(folder)
        (folder / name).write_bytes(content)


def test_frequencies_count_deleted_documents_in_the_field_that_has_most(index: KeywordIndex) -> None:
    documents = [
        KeywordDocument(1, content=["bee", "ant", "bee"], title=["bee"]),
        KeywordDocument(2, content=["bee"], title=["ant"]),
        KeywordDocument(3, title=["ant", "cow"]),
    ]
    index.apply(documents[:2], [], 1)
    index.apply(documents[2:], [2], 2)
    assert index.term_frequencies() == {"bee": 2, "ant": 2, "cow": 1}
    assert index.snapshot().document_frequency("ant") == 2
    index.compact()
    assert index.term_frequencies() == {"bee": 1, "ant": 1, "cow": 1}


@pytest.mark.posix("a file that is open is removed")
def test_a_commit_keeps_what_it_does_not_change(index: KeywordIndex, folder: Path) -> None:
    index.apply([note(key, f"word{key} common") for key in range(70)], [], 1)
    (first,) = folder.glob("*.seg")
    before = index.snapshot()
    index.apply([note(100, "common")], [3, 3, 1_000], 2)
    assert first.exists()
    assert (index.segment_count, len(before), len(index.snapshot())) == (2, 70, 70)
    assert before.holds(np.array([3, 100])).tolist() == [True, False]
    assert index.snapshot().holds(np.array([3, 100])).tolist() == [False, True]
    index.apply([], range(70), 3)
    assert (index.segment_count, index.keys()) == (1, {100})
    assert not first.exists()
    index.apply([], [100], 4)
    assert (index.segment_count, index.keys(), index.applied_seq) == (0, set(), 4)
    assert [path.suffix for path in folder.iterdir() if path.name != COMMIT_RECORD_NAME] == [".toc"]


def test_postings_of_many_keys_are_found_with_and_without_a_look_at_all(index: KeywordIndex) -> None:
    index.apply([note(key, "oak" if key % 2 else "elm") for key in range(1, 41)], [], 1)
    index.apply([KeywordDocument(key, title=["rare", "oak"]) for key in (50, 51)], [2, 50], 2)
    snapshot = index.snapshot()
    odd = list(range(1, 41, 2))
    assert snapshot.keys_containing(["oak"]).tolist() == [*odd, 50, 51]
    assert snapshot.keys_containing(["oak"], ["content"]).tolist() == odd
    assert snapshot.keys_containing(["rare", "none"]).tolist() == [50, 51]
    assert snapshot.keys_containing(["rare"], ["content", "tags"]).tolist() == []
    assert snapshot.keys_containing([]).tolist() == []
    keys = snapshot.keys
    assert keys[snapshot.mask_containing(["rare", "elm"])].tolist() == [*range(4, 41, 2), 50, 51]
    asked = np.array([1, 4, 50], np.int64)
    assert snapshot.filter_keys(asked, ["oak"]).tolist() == [1, 50]
    assert snapshot.filter_keys(asked, ["oak"], ["title"]).tolist() == [50]


def test_only_the_first_commit_after_opening_looks_for_what_was_left(
    index: KeywordIndex, folder: Path
) -> None:
    index.apply([note(1, "oak")], [], 1)
    (folder / "left.seg").write_bytes(b"x")
    index.apply([note(2, "oak")], [], 2)
    assert (folder / "left.seg").exists()
    index.compact()
    assert not (folder / "left.seg").exists()


def test_a_segment_that_a_search_still_reads_goes_with_a_later_commit(
    index: KeywordIndex, folder: Path
) -> None:
    """Windows removes no file that is mapped; the commit is complete all the same."""
    index.apply([note(1, "oak")], [], 1)
    read = index.snapshot()
    index.compact()
    index.apply([note(2, "oak elm")], [], 2)
    assert (hits(read, "oak"), hits(index.snapshot(), "oak")) == ([1], [1, 2])
    del read
    index.apply([note(3, "ash")], [], 3)
    kept = {name for name in read_commit_record(folder).files if name.endswith(".seg")}
    assert {file.name for file in folder.glob("*.seg")} == kept
