"""What the readers of a catalog keep: bounded, read once, and never another state than the reader's own; the
names of attachments are looked through without case and accents."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.model import FileRow, Heading
from vault_indexer.parse import parse_note
from vault_indexer.store.catalog import (
    AttachmentNames,
    CatalogCache,
    CatalogReader,
    CatalogWriter,
    PreparedNote,
    fold_path,
    note_rows,
)
from vault_indexer.store.catalog.catalog_cache import CountedLanguages
from vault_indexer.store.catalog.writer import ResolvedLink


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[CatalogWriter]:
    with closing(CatalogWriter(tmp_path / "catalog.db")) as writer:
        yield writer


def put(writer: CatalogWriter, path: str, text: str, mtime_ns: int = 1) -> int:
    file = FileRow(path, len(text), mtime_ns, 0, 0, "", "note")
    rows = note_rows(parse_note(path, text.encode()), (), ())
    with writer.commit():
        return writer.put_note(
            PreparedNote(file, rows, {}, 0, 0), lambda *_: ResolvedLink("", None, False), "model"
        )


def test_a_reader_keeps_its_state_beside_a_newer_one_with_the_same_cache(
    writer: CatalogWriter, tmp_path: Path
) -> None:
    cache = CatalogCache()
    note_id = put(writer, "a.md", "# One\n")
    with closing(CatalogReader(tmp_path / "catalog.db", cache)) as older:
        assert older.modified_times([note_id]) == {note_id: 1}
        with writer.commit():
            writer.put_file(FileRow("a.md", 6, 2, 0, 0, "", "note"))
        with closing(CatalogReader(tmp_path / "catalog.db", cache)) as newer:
            for reader, mtime_ns in ((older, 1), (newer, 2), (older, 1)):
                assert reader.modified_times([note_id, 99]) == {note_id: mtime_ns}
                assert [row.mtime_ns for row in reader.notes([note_id, 99]).values()] == [mtime_ns]
                assert [row.mtime_ns for row in reader.files_at(["a.md", "b.md"]).values()] == [mtime_ns]
        older.refresh_transaction()
        assert older.modified_times([note_id]) == {note_id: 2}


def above(headings: list[Heading], pos: int) -> list[Heading]:
    """The last heading of each level, unless one of a lower level came after it."""
    before = [heading for heading in headings if heading.start <= pos]
    return [
        heading
        for at, heading in enumerate(before)
        if not any(later.level <= heading.level for later in before[at + 1 :])
    ]


@given(st.lists(st.integers(1, 6), max_size=8))
def test_the_headings_of_a_place_are_those_whose_sections_hold_it(
    tmp_path_factory: pytest.TempPathFactory, levels: list[int]
) -> None:
    path = tmp_path_factory.mktemp("catalog") / "catalog.db"
    text = "Words.\n" + "".join(f"{'#' * level} H{number}\n" for number, level in enumerate(levels))
    with closing(CatalogWriter(path)) as writer:
        note_id = put(writer, "a.md", text)
    with closing(CatalogReader(path)) as catalog:
        headings = catalog.headings(note_id)
        assert len(headings) == len(levels)
        for pos in range(len(text)):
            assert list(catalog.headings_above(note_id, pos)) == above(headings, pos)
            between = [one for one in headings if pos <= one.start < pos + 5]
            assert catalog.headings_between(note_id, pos, pos + 5) == between
        assert catalog.headings_above(note_id + 1, 3) == ()


# The languages of a catalog, counted now and then.


COUNTS = {"de": 300, "en": 700, "fr": 300}


def test_the_most_frequent_comes_first() -> None:
    assert CountedLanguages(COUNTS, 5).in_order == ("en", "de", "fr")


def test_they_are_counted_again_and_rare_as_the_golden_says() -> None:
    def is_stale(present: str, last_id: str) -> bool:
        return CountedLanguages(COUNTS, 1300).is_stale(present.split(), int(last_id))

    def rare(counts: str) -> str:
        return " ".join(sorted(CountedLanguages(json.loads(counts), 0).rare)) or "none"

    check_golden(
        Path(__file__).parent / "fixtures" / "language_counts.md",
        {
            "They are counted again after a hundredth or another language": of_parts(is_stale),
            "A language of one note in fifty may be a mistake": rare,
        },
    )


def test_of_a_few_notes_each_counts() -> None:
    few = CountedLanguages({"en": 3}, 3)
    assert not few.is_stale({"en"}, 3)
    assert few.is_stale({"en"}, 4)
    assert not CountedLanguages({"en": 299}, 3).is_stale({"en"}, 4)
    assert CountedLanguages({"en": 199}, 3).is_stale({"en"}, 4)


def test_shares_are_parts_of_the_notes_whose_language_is_known() -> None:
    found = CountedLanguages({"de": 1, "en": 3}, 9)
    assert found.shares == {"de": 0.25, "en": 0.75}
    assert found.counts == {"de": 1, "en": 3}
    none = CountedLanguages({}, 0)
    assert (none.shares, none.in_order, none.rare) == ({}, (), frozenset())


def numbers_containing(paths: Sequence[str], part: str) -> list[str]:
    names = AttachmentNames(1, ((path, 0) for path in paths))
    return [names.paths[number] for number in names.numbers_containing(part)]


PATHS = ("b/Café.png", "a/photo.JPG", "photo\nphoto.pdf", "写真.png", "z.base")


def test_the_paths_that_hold_a_text() -> None:
    golden = Path(__file__).parent / "fixtures" / "attachments.md"
    check_golden(golden, {"": lambda part: ", ".join(numbers_containing(PATHS, part)) or "none"})


LETTERS = st.text(st.sampled_from("abéÉ/. \n"), max_size=6)


@given(st.lists(LETTERS, max_size=8), st.text(st.sampled_from("abe/."), min_size=1, max_size=3))
def test_no_path_is_missed_and_none_is_given_twice(paths: list[str], part: str) -> None:
    assert numbers_containing(paths, part) == [one for one in paths if part in fold_path(one)]


def file(path: str, mtime_ns: int, state: str = "linked") -> FileRow:
    return FileRow(path, 1, mtime_ns, 0, 0, "", state)


def test_the_names_follow_the_files_and_are_shared_until_one_changes(tmp_path: Path) -> None:
    texts = CatalogCache()

    def names() -> AttachmentNames:
        with closing(CatalogReader(tmp_path / "catalog.db", texts)) as catalog:
            return catalog.attachments()

    with closing(CatalogWriter(tmp_path / "catalog.db")) as writer:
        assert names().paths == ()
        with writer.commit():
            for row in (file("old.png", 1), file("new.png", 2), file("Note.md", 3), file("n.md", 4, "note")):
                writer.put_file(row)
        first = names()
        assert first.paths == ("new.png", "old.png")
        with writer.commit():
            writer.put_file(file("n.md", 5, "note"))
        assert names() is first
        with writer.commit():
            writer.remove_file("n.md")
        assert names() is first
        with writer.commit():
            writer.put_file(file("old.png", 9))
        assert names().paths == ("old.png", "new.png")
        with writer.commit():
            writer.remove_file("new.png")
        assert names().paths == ("old.png",)


def test_a_source_file_that_is_indexed_from_now_on_is_no_attachment(tmp_path: Path) -> None:
    texts = CatalogCache()
    with closing(CatalogWriter(tmp_path / "catalog.db")) as writer:
        for state, paths in (("linked", ("a.py",)), ("note", ()), ("linked", ("a.py",))):
            with writer.commit():
                writer.put_file(file("a.py", 1, state))
            with closing(CatalogReader(tmp_path / "catalog.db", texts)) as catalog:
                assert catalog.attachments().paths == paths


def test_an_older_reader_keeps_its_names(tmp_path: Path) -> None:
    texts = CatalogCache()
    with closing(CatalogWriter(tmp_path / "catalog.db")) as writer:
        with writer.commit():
            writer.put_file(file("one.png", 1))
        with closing(CatalogReader(tmp_path / "catalog.db", texts)) as older:
            with writer.commit():
                writer.put_file(file("two.png", 2))
            with closing(CatalogReader(tmp_path / "catalog.db", texts)) as newer:
                assert newer.attachments().paths == ("two.png", "one.png")
                assert older.attachments().paths == ("one.png",)
