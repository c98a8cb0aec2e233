"""What the system and SQLite refuse while an index is written is one line that names the folder."""

import errno
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from vault_indexer import errors
from vault_indexer.store import IndexDir, index_errors
from vault_indexer.store.catalog import is_full, unusable
from vault_indexer.store.generations import disk_full, edit_bytes
from vault_indexer.system import EDIT_BYTES

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
