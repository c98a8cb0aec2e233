"""A shadow of the vault: a temporary copy in which the text of questions is hidden.

Notes are copied, never linked: a hard link would change the ctime of the original, and a daemon would read it
again. Of attachments only the names are needed, so they are empty files.
"""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from vault_indexer.daemon.assembly import Target
from vault_indexer.errors import NoteError
from vault_indexer.evals.questions import Edit, Question
from vault_indexer.model import FileKind
from vault_indexer.parse.notes import decode
from vault_indexer.vault import CONTROL_FILES, Decision, Scan, load_ignore_rules, read_note, scan


def scan_vault(target: Target) -> Scan:
    """What an index of the target would hold."""
    files = target.config.settings.files
    return scan(target.vault, load_ignore_rules(target.vault, files), max_file_bytes=files.max_file_bytes)


def current_hashes(target: Target, questions: Iterable[Question]) -> dict[str, str]:
    """The SHA-256 of each note that the questions name and that is there."""
    paths = {path for one in questions for path in (*one.grades, *one.sha256)}
    found: dict[str, str] = {}
    for path in sorted(paths):
        with suppress(NoteError):
            found[path] = read_note(target.vault, path, target.config.settings.files.max_file_bytes).sha256
    return found


@contextmanager
def shadow_vault(target: Target, questions: Sequence[Question], folder: Path) -> Iterator[Path]:
    """The folder, filled with the vault as the questions want it; removed at the end."""
    try:
        write_shadow(target, questions, folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_shadow(target: Target, questions: Sequence[Question], folder: Path) -> None:
    """Fill the folder: notes with their edits, control files, and attachments as empty files.

    Times of modification are kept, since they count in a ranking.
    """
    edits: defaultdict[str, list[Edit]] = defaultdict(list)
    for question in questions:
        for edit in question.edits:
            edits[edit.path].append(edit)
    folder.mkdir(mode=0o700, parents=True)
    for name in CONTROL_FILES:
        if (target.vault / name).is_file():
            _copy(target.vault / name, folder / name)
    for file in scan_vault(target).files:
        copy = folder / file.path
        if file.kind is FileKind.ATTACHMENT and file.decision is not Decision.INDEX:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.touch()
        elif file.path in edits:
            _write_edited(target, file.path, copy, edits[file.path])
        else:
            with suppress(FileNotFoundError):  # removed since the scan
                _copy(target.vault / file.path, copy)
            continue
        os.utime(copy, ns=(file.stat.mtime_ns, file.stat.mtime_ns))


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits made. Of edits that overlap, all that they cover is removed."""
    parts: list[str] = []
    position = 0
    for edit in sorted(set(edits), key=lambda one: (one.start, one.end)):
        if edit.start >= position:
            parts += (text[position : edit.start], edit.replacement)
        position = max(position, edit.end)
    return "".join((*parts, text[position:]))


def _write_edited(target: Target, path: str, copy: Path, edits: Iterable[Edit]) -> None:
    data = read_note(target.vault, path, target.config.settings.files.max_file_bytes).data
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(edited(decode(path, data)[0], edits).encode())


def _copy(original: Path, copy: Path) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(original, copy)
