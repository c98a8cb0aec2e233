"""The index folder: numbered generations, and the name of the active one.

<index-dir>/CURRENT                  "0002\n", replaced atomically
<index-dir>/generations/0002/        manifest.toml, catalog.db, vectors.faiss, keywords/
<index-dir>/generations/0003.part/   one that is being built; renamed when it is complete
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vault_indexer.errors import DiskFullError, IndexUnusableError, ManifestError, UnavailableError
from vault_indexer.store.catalog import SqliteError, is_full, unusable
from vault_indexer.system import (
    EDIT_BYTES,
    free_bytes,
    fsync_dir,
    in_words,
    record,
    replace_file,
    size_of,
    write_atomically,
)

BUILDING_SUFFIX = ".part"

_CHECKSUM_MARK = "# crc32 "
_ENDS_IN_CHECKSUM = re.compile(r"[0-9a-f]{8}\s*\Z")
"""A TOML value that is text ends in a quote, so only a checksum with a damaged marker ends like this."""


def _crc(text: str) -> str:
    return f"{zlib.crc32(text.encode('utf-8')):08x}"


@record
class Generation:
    """One index on disk, complete or under construction."""

    number: int
    folder: Path

    @property
    def catalog(self) -> Path:
        return self.folder / "catalog.db"

    @property
    def vectors(self) -> Path:
        return self.folder / "vectors.faiss"

    @property
    def next_vectors(self) -> Path:
        """The file of a new base that is being written while another is in use; readers of the generation
        ignore it."""
        return self.folder / "vectors.faiss.next"

    @property
    def keywords(self) -> Path:
        return self.folder / "keywords"

    @property
    def manifest(self) -> Path:
        return self.folder / "manifest.toml"

    def write_manifest(self, text: str) -> None:
        """Writes the manifest durably, with a checksum as its last line. Raises OSError."""
        write_atomically(self.manifest, f"{text.rstrip()}\n{_CHECKSUM_MARK}{_crc(text.rstrip())}\n".encode())

    def read_manifest(self) -> str:
        """Returns the manifest as written. A manifest without a checksum is accepted. Raises ManifestError if
        the checksum does not match, and OSError or UnicodeDecodeError if the file cannot be read."""
        text, mark, crc = self.manifest.read_text("utf-8").rpartition(_CHECKSUM_MARK)
        if not mark:
            if _ENDS_IN_CHECKSUM.search(crc):
                raise ManifestError("its checksum line is damaged")
            return crc
        if crc.strip() != _crc(text.rstrip()):
            raise ManifestError("its checksum does not fit")
        return text


class IndexDir:
    """The folder of one vault's index: its complete generations, at most one under construction, and the
    active one.

    A build calls `begin`, fills the returned folder, then calls `finish` and `publish`. A generation becomes
    active by an atomic write of `CURRENT`, so a crash at any point leaves either the old or the new one
    active. If `CURRENT` is damaged, the newest complete generation is active. Only the process that owns the
    vault's lock may write here; readers in any process may call `current` and `complete`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._generations = root / "generations"

    def prepare(self) -> None:
        """Creates the folder, private to the user. Raises IndexUnusableError with the reason."""
        try:
            self._generations.mkdir(parents=True, exist_ok=True)
            self.root.chmod(0o700)
        except OSError as error:
            raise self._unwritable(error.strerror) from error
        # The calls above say nothing about a subfolder that exists: it may be write-protected.
        if not os.access(self._generations, os.W_OK | os.X_OK):
            raise self._unwritable("no write permission")

    def current(self) -> Generation | None:
        """The active generation, or None if no generation was ever completed."""
        try:
            # A damaged file must not raise: its name or checksum then fits no generation.
            name, _, crc = (self.root / "CURRENT").read_text("ascii", errors="replace").strip().partition(" ")
        except FileNotFoundError:
            return self._newest_complete()
        except OSError as error:
            raise IndexUnusableError(f"index {self.root}: cannot read CURRENT: {error.strerror}") from error
        folder = self._generations / name
        # Without a checksum, the name was written by an earlier version.
        if name.isdigit() and folder.is_dir() and crc in ("", _crc(name)):
            return Generation(int(name), folder)
        return self._newest_complete()

    def complete(self) -> list[Generation]:
        """All complete generations, oldest first."""
        if not self._generations.is_dir():
            return []
        named = (entry for entry in self._generations.iterdir() if entry.name.isdigit() and entry.is_dir())
        return sorted((Generation(int(entry.name), entry) for entry in named), key=lambda g: g.number)

    def begin(self) -> Generation:
        """Creates an empty folder for the next generation and removes the remains of a crashed build."""
        self.prepare()
        for leftover in self._generations.glob(f"*{BUILDING_SUFFIX}"):
            shutil.rmtree(leftover, ignore_errors=True)  # its process may still be exiting
        # Above all numbers in use: if CURRENT is damaged, the highest complete generation is the active one.
        number = max((generation.number for generation in self.complete()), default=0) + 1
        # The process id keeps the folder apart from that of a crashed build that could not be removed yet.
        folder = self._generations / f"{number:04d}.{os.getpid()}{BUILDING_SUFFIX}"
        folder.mkdir(mode=0o700, exist_ok=True)
        return Generation(number, folder)

    def discard(self, building: Generation) -> None:
        shutil.rmtree(building.folder, ignore_errors=True)

    def finish(self, building: Generation) -> Generation:
        """Renames a completely written and synced generation to its final name; it is not active yet."""
        folder = self._generations / f"{building.number:04d}"
        replace_file(building.folder, folder)
        fsync_dir(self._generations)
        return Generation(building.number, folder)

    def publish(self, generation: Generation) -> None:
        name = f"{generation.number:04d}"
        write_atomically(self.root / "CURRENT", f"{name} {_crc(name)}\n".encode())

    def collect(self, keep: int = 1) -> None:
        """Removes generations older than the active one, except the newest `keep` of them."""
        current = self.current()
        if current is None:
            return
        # A newer one than the active one is complete and about to be published.
        older = [generation for generation in self.complete() if generation.number < current.number]
        for generation in older[: max(0, len(older) - keep)]:
            shutil.rmtree(generation.folder, ignore_errors=True)

    def _newest_complete(self) -> Generation | None:
        complete = self.complete()
        return complete[-1] if complete else None

    def _unwritable(self, reason: str | None) -> IndexUnusableError:
        return IndexUnusableError(
            f"index folder {self.root} cannot be written: {reason}; choose another with --index-dir"
        )


_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


@contextmanager
def index_errors(root: Path, needed_bytes: int | None = None) -> Iterator[None]:
    """Converts an OSError or SQLite error in the block to an UnavailableError of one line that names the
    folder.

    `root` is the index folder; `needed_bytes` is the approximate space that the work needs, by default that
    of an edit. A full disk raises DiskFullError with the free and the needed space. The vault's own errors
    (VaultError, NoteError) and those of models pass unchanged.
    """
    try:
        yield
    except DiskFullError as error:
        if error.explained:
            raise
        raise disk_full(root, needed_bytes) from error
    except (IndexUnusableError, OSError, SqliteError) as error:
        if _met_full_disk(root, error):
            raise disk_full(root, needed_bytes) from error
        if isinstance(error, IndexUnusableError):
            raise
        raise (_unusable(root, error) if isinstance(error, OSError) else unusable(root, error)) from error


def _met_full_disk(root: Path, error: BaseException | None) -> bool:
    """Whether this error, or one of its causes, is a full disk. Cleanup after a full disk raises errors of
    its own, for example about an incomplete database."""
    while error is not None:
        if isinstance(error, DiskFullError) or (isinstance(error, Exception) and is_full(root, error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def disk_full(root: Path, needed_bytes: int | None = None) -> DiskFullError:
    needed = edit_bytes(root) if needed_bytes is None else needed_bytes
    free = free_bytes(root)
    what = "the disk is full" if free < needed else "the disk, or your quota on it, is full"
    return DiskFullError(
        f"the index in {root} cannot be written: {what} ({in_words(free)} free), about {in_words(needed)} "
        "required; free some space, or choose another folder with --index-dir",
        explained=True,
    )


def edit_bytes(root: Path) -> int:
    """The approximate space that one edit may write: both derived indices again, and the catalog's log."""
    try:
        current = IndexDir(root).current()
    except IndexUnusableError:
        # The estimate is for the message of another error, so it must not fail itself.
        current = None
    if current is None:
        return EDIT_BYTES
    vectors = current.vectors.stat().st_size if current.vectors.exists() else 0
    return EDIT_BYTES + vectors + size_of(current.keywords)


def _unusable(root: Path, error: OSError) -> UnavailableError:
    reason = error.strerror or str(error) or type(error).__name__
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in _REFUSED:
        return IndexUnusableError(
            f"the index in {root} cannot be written: {reason}{where}; "
            "make it writable, or choose another folder with --index-dir"
        )
    return IndexUnusableError(f"the index in {root} cannot be used: {reason}{where}")
