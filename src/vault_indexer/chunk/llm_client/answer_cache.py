"""Answers of a language model on disk, so that the same question is never paid for twice.

The folder is bounded: above `MAX_BYTES` the answers that were not used for the longest time go, until a
quarter of the space is free. It is looked at with the first new answer of a process and with every
`LOOK_EVERY`th after it, never where nothing is added. A removed answer costs a new question if it is needed
again; the index itself loses nothing.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from vault_indexer.system import replace_file

MAX_BYTES = 1 << 30
"""On disk: about 250,000 answers, as each takes at least one block of 4 KiB. A preamble for each of the
80,000 chunks of the largest vault measured fits three times."""

LOOK_EVERY = 10_000

_BLOCK = 4096


class _Answer(NamedTuple):
    used: int
    path: str
    size: int


class KeptAnswers:
    """A folder of answers; their names are paths of one folder and one file. Several processes may share it:
    a file appears whole or not at all.

    Best effort: what cannot be read or written costs a new question.
    """

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._added = 0

    def read(self, name: str) -> str | None:
        """The answer of that name, which is now used last; None if there is none."""
        file = self._file(name)
        with suppress(OSError, UnicodeDecodeError):
            answer = file.read_text("utf-8")
            os.utime(file)
            return answer
        return None

    def add(self, name: str, answer: str) -> None:
        """Keep an answer, and remove old ones where there is no space for it."""
        file = self._file(name)
        with suppress(OSError, UnicodeEncodeError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(dir=file.parent, suffix=".part")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as stream:
                    stream.write(answer)
                replace_file(Path(temporary), file)
            except OSError:
                Path(temporary).unlink(missing_ok=True)
                raise
            if self._added % LOOK_EVERY == 0:
                self._make_room()
            self._added += 1

    def _make_room(self) -> None:
        answers = sorted(self._answers())
        size = sum(answer.size for answer in answers)
        if size <= self._max_bytes:
            return
        for answer in answers:
            if size <= self._max_bytes * 3 // 4:
                break
            with suppress(OSError):  # another process removes it as well
                Path(answer.path).unlink()
            size -= answer.size

    def _answers(self) -> Iterator[_Answer]:
        for folder in self._folder.iterdir():
            with suppress(NotADirectoryError), os.scandir(folder) as entries:
                for entry in entries:
                    with suppress(FileNotFoundError):
                        found = entry.stat(follow_symlinks=False)
                        size = -(-found.st_size // _BLOCK) * _BLOCK
                        yield _Answer(found.st_mtime_ns, entry.path, max(size, _BLOCK))

    def _file(self, name: str) -> Path:
        return self._folder / name
