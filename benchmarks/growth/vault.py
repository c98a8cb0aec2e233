"""A vault that is a multiple of another: the same folders under numbered prefixes, with other words.

Every copy exchanges the words of each part of the vault (its two upper folders: for the large vault, a
language of a project) among words of about the same frequency. So a copy has the law of frequencies, the
lengths and the links of the original, and none of its sentences. The first copy is the original itself.
"""

from __future__ import annotations

import random
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

KEPT = 40
"""So many of the most frequent words of a part stay in place: they tell the language of a note."""

BAND = 64
"""Words are exchanged among so many of neighbouring frequency."""

_PIECES = re.compile(
    r"\]\([^)\n]*\)?"  # the target of a link
    r"|\[\[[^\]|#\n]*"  # that of a wikilink, without its heading and its display text
    r"|https?://\S+"
    r"|^\s*(?:```|~~~).*$"  # a fence and its language
    r"|^[\w .-]+:(?=\s)"  # the key of a property
    r"|[^\W\d_]+"
    r"|[\W\d_]",
    re.MULTILINE,
)


def grow(source: Path, target: Path, multiple: float, *, seed: int = 1) -> None:
    """Make `target` a vault of `multiple` times the notes of `source`; a complete one is left as it is.

    Below 1 it is every n-th note. The same arguments give the same bytes. One note at a time is in memory.
    """
    done = target.with_name(target.name + ".complete")
    if done.exists():
        return
    shutil.rmtree(target, ignore_errors=True)
    notes = sorted(path.relative_to(source) for path in source.rglob("*") if path.is_file())
    if multiple < 1:
        step = round(1 / multiple)
        _copy(source, target / prefix(0), notes[::step])
    else:
        _copy(source, target / prefix(0), notes)
        vocabulary = _vocabularies(source, notes)
        for number in range(1, round(multiple)):
            _exchange(source, target / prefix(number), notes, _Words(vocabulary, f"{seed} {number}"))
    done.touch()


def prefix(number: int) -> str:
    """The folder of a copy."""
    return f"part-{number:02}"


class _Words:
    """What each word of a part becomes in one copy: itself, or one of its band. Case is kept."""

    def __init__(self, vocabularies: dict[str, list[str]], seed: str) -> None:
        self._tables = {part: _Table(words, seed) for part, words in vocabularies.items()}

    def exchanged(self, note: Path, text: str) -> str:
        table = self._tables[_part(note)]
        return "".join([table[piece] for piece in _PIECES.findall(text)])


class _Table(dict[str, str]):
    def __init__(self, words: Sequence[str], seed: str) -> None:
        super().__init__()
        chance = random.Random(seed)
        self._lower: dict[str, str] = {}
        for start in range(KEPT, len(words), BAND):
            band = list(words[start : start + BAND])
            other = band.copy()
            chance.shuffle(other)
            self._lower.update(zip(band, other, strict=True))

    def __missing__(self, piece: str) -> str:
        found = self._lower.get(piece.lower(), piece)
        if found != piece and not piece.islower():
            if piece.isupper() and len(piece) > 1:
                found = found.upper()
            elif piece[:1].isupper():
                found = found[:1].upper() + found[1:]
        self[piece] = found
        return found


def _vocabularies(source: Path, notes: Sequence[Path]) -> dict[str, list[str]]:
    """The words of each part of the vault in lower case, most frequent first."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for note in notes:
        counts[_part(note)].update(_words_in(_read(source / note)))
    return {
        part: sorted(found, key=lambda word: (-found[word], word)) for part, found in sorted(counts.items())
    }


def _words_in(text: str) -> Iterator[str]:
    return (piece.lower() for piece in _PIECES.findall(text) if piece.isalpha())


def _part(note: Path) -> str:
    return "/".join(note.parts[:2]) if len(note.parts) > 2 else note.parts[0]


def _exchange(source: Path, target: Path, notes: Sequence[Path], words: _Words) -> None:
    for note in notes:
        path = target / note
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            words.exchanged(note, _read(source / note)),
            encoding="utf-8",
            errors="surrogateescape",
            newline="",
        )


def _copy(source: Path, target: Path, notes: Sequence[Path]) -> None:
    for note in notes:
        path = target / note
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / note, path)


def _read(path: Path) -> str:
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()
