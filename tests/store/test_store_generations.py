"""The index folder: which generation is active, whatever a crash left behind; and what the system and SQLite
refuse while an index is written is one line that names the folder."""

import errno
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from vault_indexer import errors
from vault_indexer.errors import IndexUnusableError, ManifestError
from vault_indexer.store import index_errors
from vault_indexer.store.catalog import is_full, unusable
from vault_indexer.store.generations import Generation, IndexDir, disk_full, edit_bytes
from vault_indexer.system import EDIT_BYTES


@pytest.fixture
def index_dir(tmp_path: Path) -> IndexDir:
    return IndexDir(tmp_path / "i")


def made(index_dir: IndexDir) -> Generation:
    building = index_dir.begin()
    (building.folder / "manifest.toml").write_text("x")
    return index_dir.finish(building)


def test_a_generation_is_in_force_only_once_published(index_dir: IndexDir) -> None:
    assert index_dir.current() is None
    first = made(index_dir)
    index_dir.publish(first)
    second = made(index_dir)
    assert index_dir.current() == first
    index_dir.publish(second)
    assert index_dir.current() == second


def test_what_a_crashed_build_left_is_removed_by_the_next(index_dir: IndexDir) -> None:
    index_dir.publish(made(index_dir))
    left = index_dir.begin()
    assert left.folder.exists()
    again = index_dir.begin()
    assert again.number == left.number
    assert list(again.folder.iterdir()) == []
    assert again.folder.name == f"0002.{os.getpid()}.part"


@pytest.mark.parametrize("content", ["", "garbage", "0099\n", "0001"])
def test_a_damaged_pointer_falls_back_to_the_newest_complete_generation(
    index_dir: IndexDir, content: str
) -> None:
    made(index_dir)
    newest = made(index_dir)
    (index_dir.root / "CURRENT").write_text(content)
    current = index_dir.current()
    assert current is not None
    assert current.number == (1 if content == "0001" else newest.number)


@pytest.mark.posix("modes of files")
def test_the_folder_is_the_users_alone(index_dir: IndexDir) -> None:
    for folder in (index_dir.begin().folder, index_dir.root):
        assert (folder.stat().st_mode & 0o777) == 0o700


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(IndexUnusableError, match=r"file\Wi cannot be written"):
        IndexDir(tmp_path / "file" / "i").prepare()


def test_a_generation_has_its_files_in_its_folder(tmp_path: Path, index_dir: IndexDir) -> None:
    first = made(index_dir)
    assert first == Generation(1, tmp_path / "i" / "generations" / "0001")
    places = (first.catalog, first.vectors, first.next_vectors, first.keywords, first.manifest)
    names = [place.relative_to(first.folder).as_posix() for place in places]
    assert names == ["catalog.db", "vectors.faiss", "vectors.faiss.next", "keywords", "manifest.toml"]


def test_the_newest_generation_is_the_one_of_the_highest_number(tmp_path: Path, index_dir: IndexDir) -> None:
    index_dir.prepare()
    for name in ("9999", "10000", "0002", "0003.77.part", "notes"):
        (tmp_path / "i" / "generations" / name).mkdir()
    (tmp_path / "i" / "generations" / "20000").write_text("a file")
    assert [generation.number for generation in index_dir.complete()] == [2, 9999, 10_000]
    current = index_dir.current()
    assert current == Generation(10_000, tmp_path / "i" / "generations" / "10000")
    assert index_dir.begin().number == 10_001


def test_the_pointer_counts_if_its_checksum_fits(index_dir: IndexDir) -> None:
    first, second = made(index_dir), made(index_dir)
    index_dir.publish(first)
    pointer = index_dir.root / "CURRENT"
    assert re.fullmatch(r"0001 [0-9a-f]{8}\n", pointer.read_text())
    assert index_dir.current() == first
    pointer.write_text(pointer.read_text().replace("0001", "0002"))
    assert index_dir.current() == second
    pointer.write_text(pointer.read_text().replace("0002", "0001")[:-2])
    assert index_dir.current() == second


def test_a_pointer_that_cannot_be_read_is_an_error(index_dir: IndexDir) -> None:
    made(index_dir)
    (index_dir.root / "CURRENT").mkdir()
    with pytest.raises(IndexUnusableError, match=r"cannot read CURRENT: (Is a directory|Permission)"):
        index_dir.current()


@pytest.mark.parametrize(
    ("keep", "left"), [(0, [3, 4]), (1, [2, 3, 4]), (2, [1, 2, 3, 4]), (9, [1, 2, 3, 4])]
)
def test_so_many_older_generations_are_kept_and_all_later_ones(
    index_dir: IndexDir, keep: int, left: list[int]
) -> None:
    index_dir.collect(keep)
    generations = [made(index_dir) for _ in range(4)]
    index_dir.publish(generations[2])
    index_dir.collect(keep)
    assert [generation.number for generation in index_dir.complete()] == left


def test_a_manifest_comes_back_as_it_was_written(index_dir: IndexDir) -> None:
    generation = made(index_dir)
    generation.write_manifest('key = "value"\n\n')
    assert generation.read_manifest() == 'key = "value"\n'
    assert re.search(r"\n# crc32 [0-9a-f]{8}\n\Z", generation.manifest.read_text())


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("value", "valve", "its checksum does not fit"),
        ("# crc32 ", "# crc31 ", "its checksum line is damaged"),
        ("# crc32 ", "# crc32 0", "its checksum does not fit"),
    ],
)
def test_a_manifest_that_is_damaged_is_refused(
    index_dir: IndexDir, before: str, after: str, told: str
) -> None:
    generation = made(index_dir)
    generation.write_manifest('key = "value"')
    generation.manifest.write_text(generation.manifest.read_text().replace(before, after))
    with pytest.raises(ManifestError, match=told):
        generation.read_manifest()


def test_a_manifest_without_a_checksum_is_taken_as_it_is(index_dir: IndexDir) -> None:
    generation = made(index_dir)
    generation.manifest.write_text('key = "value"\n')
    assert generation.read_manifest() == 'key = "value"\n'


MOST = 1 << 62


def full_database() -> sqlite3.Error:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("PRAGMA max_page_count = 2")
        database.execute("CREATE TABLE t (x)")
        with pytest.raises(sqlite3.Error) as full:
            database.execute("INSERT INTO t VALUES (zeroblob(100000))")
    return full.value


def failed_read() -> sqlite3.Error:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_READ
    return error


@pytest.mark.parametrize(
    "full",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        errors.DiskFullError("index catalog.db: full"),
        full_database(),
    ],
)
@pytest.mark.parametrize(
    ("needed", "what"), [(MOST, "the disk is full"), (0, "the disk, or your quota on it")]
)
def test_a_full_disk_is_said_with_the_space_that_is_there_and_needed(
    tmp_path: Path, full: Exception, needed: int, what: str
) -> None:
    with pytest.raises(errors.DiskFullError) as raised, index_errors(tmp_path, needed):
        raise full
    start = re.escape(f"the index in {tmp_path} cannot be written: {what}")
    in_words = "4611686018.4 GB" if needed else "0.0 MB"
    assert re.match(rf"{start}.* free\), about {in_words} required; free some space", str(raised.value))
    assert raised.value.explained
    assert raised.value.__cause__ is full


def test_a_full_disk_that_was_explained_is_not_explained_again(tmp_path: Path) -> None:
    known = disk_full(tmp_path)
    with pytest.raises(errors.DiskFullError) as raised, index_errors(tmp_path, MOST):
        raise known
    assert raised.value is known


@pytest.mark.parametrize("by", ["cause", "context"])
def test_what_fails_after_a_full_disk_is_the_full_disk(tmp_path: Path, by: str) -> None:
    late = errors.IndexUnusableError("the database is only half there")
    setattr(late, f"__{by}__", errors.DamagedError("a page is cut off"))
    setattr(getattr(late, f"__{by}__"), f"__{by}__", OSError(errno.ENOSPC, "full"))
    with pytest.raises(errors.DiskFullError), index_errors(tmp_path):
        raise late


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.EACCES, "Permission denied", "x"), "cannot be written: Permission denied (x)"),
        (OSError(errno.EROFS, "Read-only file system"), "cannot be written: Read-only file system; make it"),
        (OSError(errno.EPERM, "No"), "cannot be written: No; make it writable, or choose"),
        (OSError(errno.EIO, "Input/output error", "y"), "cannot be used: Input/output error (y)"),
        (OSError("odd"), "cannot be used: odd"),
        (OSError(), "cannot be used: OSError"),
    ],
)
def test_what_the_system_refuses_is_said_with_the_folder(tmp_path: Path, error: OSError, told: str) -> None:
    with pytest.raises(errors.IndexUnusableError) as raised, index_errors(tmp_path):
        raise error
    assert str(raised.value).startswith(f"the index in {tmp_path} {told}")
    assert ("--index-dir" in str(raised.value)) is ("written" in told)


@pytest.mark.parametrize(
    "error", [errors.VaultError("a"), errors.NoteError("b"), errors.DamagedError("c"), ZeroDivisionError("d")]
)
def test_other_errors_pass(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(type(error)) as raised, index_errors(tmp_path):
        raise error
    assert raised.value is error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (sqlite3.DatabaseError("file is not a database"), errors.DamagedError),
        (sqlite3.OperationalError("database is locked"), errors.IndexUnusableError),
        (failed_read(), errors.IndexUnusableError),
        (full_database(), errors.DiskFullError),
        (OSError(errno.ENOSPC, "full"), errors.DiskFullError),
        (OSError(errno.EIO, "broken"), errors.IndexUnusableError),
        (ValueError("no error of SQLite"), errors.IndexUnusableError),
    ],
)
def test_only_a_malformed_catalog_is_a_reason_to_rebuild(
    tmp_path: Path, error: Exception, kind: type[errors.UnavailableError]
) -> None:
    made = unusable(tmp_path, error)
    assert type(made) is kind
    assert str(made) == f"index {tmp_path}: {error}"
    assert is_full(tmp_path, error) is (kind is errors.DiskFullError)
    if isinstance(error, sqlite3.Error) and kind is not errors.DiskFullError:
        with pytest.raises(kind) as raised, index_errors(tmp_path):
            raise error
        assert type(raised.value) is kind


def test_an_edit_may_write_both_derived_indices_again(tmp_path: Path) -> None:
    assert edit_bytes(tmp_path / "none") == EDIT_BYTES
    index = IndexDir(tmp_path)
    made = index.finish(index.begin())
    index.publish(made)
    made.keywords.mkdir()
    (made.keywords / "segment").write_bytes(b"k" * 50)
    assert edit_bytes(tmp_path) == EDIT_BYTES + 50
    made.vectors.write_bytes(b"v" * 100)
    assert edit_bytes(tmp_path) == EDIT_BYTES + 150
    (tmp_path / "CURRENT").unlink()
    (tmp_path / "CURRENT").mkdir()
    assert edit_bytes(tmp_path) == EDIT_BYTES
