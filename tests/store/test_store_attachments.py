"""The names of attachments: looked through without case and accents, and read again only when one changes."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from golden_cases import check_golden
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.model import FileRow
from vault_indexer.store.catalog import AttachmentNames, CatalogCache, CatalogReader, CatalogWriter, fold_path


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
