"""The vaults indexed on this computer: one record each in the user's state folder.

They help a command without a given vault to find the one around the current folder, or the only one. A vault
whose index folder or configuration was given for one command has no record. Loads no configuration.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from vault_indexer.daemon.lock import IndexLock
from vault_indexer.errors import IndexUnusableError, LockedError
from vault_indexer.system import folder_digest, folder_slug, read_own, state_folder, write_atomically


class KnownVault(NamedTuple):
    """A vault with an index. `is_removed` means that the user removed it and kept the index."""

    vault: str
    index_dir: str
    is_removed: bool = False

    @property
    def folder(self) -> Path:
        """The folder of the notes, which may not exist any more."""
        return Path(self.vault)

    @property
    def is_left_over(self) -> bool:
        """Whether the index is no longer used: its vault was removed, or its folder is gone."""
        return self.is_removed or not self.folder.is_dir()


def has_index(index_dir: Path) -> bool:
    """Whether the folder contains a complete build."""
    return (index_dir / "CURRENT").is_file()


def is_index(folder: Path) -> bool:
    """Whether the folder contains an index, or an unfinished build of one, and is not a symbolic link."""
    return (has_index(folder) or (folder / "generations").is_dir()) and not folder.is_symlink()


def remember_vault(vault: Path, index_dir: Path, *, is_removed: bool = False) -> None:
    """Records a vault with an index. If the disk cannot be written, the next command tries again."""
    known = KnownVault(str(vault), str(index_dir), is_removed)
    path = _record(vault)
    if not has_index(index_dir) or _read(path) == known:
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(path, json.dumps(known._asdict()).encode())


def forget_vault(vault: Path) -> None:
    with suppress(OSError):
        _record(vault).unlink()


def recorded_vaults() -> list[KnownVault]:
    """The records whose index still exists, by folder."""
    try:
        files = sorted(_records().glob("*.json"))
    except OSError:
        return []
    found = [known for known in map(_read, files) if known and has_index(Path(known.index_dir))]
    return sorted(found, key=lambda known: known.vault)


def known_vaults() -> dict[str, Path]:
    """The folders of all usable vaults, by a name derived from the folder."""
    named: dict[str, Path] = {}
    for known in recorded_vaults():
        if not known.is_left_over:
            named[free_name(folder_slug(known.folder), named)] = known.folder
    return named


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken; at most 40 characters, the limit for names."""
    # 37 characters leave room for a hyphen and two digits.
    numbers = (f"{name[:37]}-{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(one for one in numbers if one not in taken)


def _records() -> Path:
    return state_folder() / "vaults"


def _record(vault: Path) -> Path:
    return _records() / f"{folder_digest(vault)}.json"


def _read(path: Path) -> KnownVault | None:
    """A record; None if it is missing, damaged, or could have been written by another user."""
    try:
        found = json.loads(read_own(path))
        known = KnownVault(str(found["vault"]), str(found["index_dir"]), bool(found["is_removed"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return known if os.path.isabs(known.vault) and os.path.isabs(known.index_dir) else None  # noqa: PTH117


# Left-over indices, and the deletion of an index.

_PARTS = (
    *("CURRENT", "generations", "llm-cache", "llm-calls", "start-hint"),
    *("daemon.*", "start.json", "open.html", "address.json"),
)
_PARTS_OF_LOCK = ("lock", "lock.holder")
"""The files that the program writes into an index folder. The folder `evals` is not among them: it contains
grades by a person, which a rebuild cannot restore."""

_LOOK_EVERY_S = 0.05


def left_over_indices() -> list[KnownVault]:
    return [known for known in recorded_vaults() if known.is_left_over]


def delete_index(index_dir: Path, wait_s: float = 0) -> bool:
    """Deletes an index, and its folder unless it contains other files. Returns True if the folder is gone.

    A process that is closing the index gets `wait_s` seconds. Raises LockedError if one still uses it after
    that, and IndexUnusableError if the folder is not an index or cannot be deleted.
    """
    if not is_index(index_dir):
        raise IndexUnusableError(f"{index_dir} is not an index folder: nothing was deleted")
    lock = _locked(index_dir, wait_s)
    try:
        _delete(index_dir, _PARTS)
    finally:
        lock.release()
    _delete(index_dir, _PARTS_OF_LOCK)
    with suppress(OSError):
        index_dir.rmdir()
    return not index_dir.exists()


def _locked(index_dir: Path, wait_s: float) -> IndexLock:
    lock, until = IndexLock(index_dir, "deletion"), time.monotonic() + wait_s
    while True:
        try:
            lock.acquire()
        except LockedError:
            if time.monotonic() > until:
                raise
            time.sleep(_LOOK_EVERY_S)
        else:
            return lock


def _delete(index_dir: Path, patterns: Iterable[str]) -> None:
    for pattern in patterns:
        # Listed pattern by pattern: a daemon that is closing removes its own files meanwhile.
        for entry in list(index_dir.glob(pattern)):
            delete_entry(entry)


def delete_entry(entry: Path) -> None:
    """Deletes a file, a link, or a folder with its content. Raises IndexUnusableError."""
    try:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    except OSError as error:
        raise IndexUnusableError(f"cannot delete {error.filename}: {error.strerror}") from error
