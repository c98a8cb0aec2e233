"""Judgements by hand: which notes to show, in which order, and the files that keep the grades.

The pool of a question is what three rankings find: by word, by meaning, and the active search. It is shown
without ranks and without the names of the rankings, in the order of a hash, so that nothing tells which note
came first. A folder holds `topics.tsv` (id, tab, question) and `qrels.txt` in the form of TREC: id, 0, note,
grade. Notes are percent-encoded there, since a path can hold spaces. Both are written after each grade, so
judging goes on where it ended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from vault_indexer.config import Settings
from vault_indexer.errors import UsageError
from vault_indexer.evals.questions import JUDGED, Question, question_id
from vault_indexer.evals.ranking import each_once, parse_variants, ranked_paths, settings_with
from vault_indexer.search import Searcher
from vault_indexer.store import Snapshot
from vault_indexer.system import write_atomically

GRADES: Mapping[int, str] = {0: "does not help", 1: "helps", 2: "answers"}
POOLED = ("keyword", "vector", "configured")
POOL_DEPTH = 10

_TOPICS, _QRELS = "topics.tsv", "qrels.txt"
_SAFE = "/!#$&'()*+,;=:@[]~"


@dataclass(slots=True)
class Judgements:
    """The grades of one folder, by question and note. One process writes a folder at a time."""

    folder: Path
    topics: dict[str, str] = field(default_factory=dict)
    grades: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> Judgements:
        """What the folder holds; nothing if it does not exist. Raises UsageError naming file and line."""
        own = cls(folder)
        for number, line in enumerate(_lines(folder / _TOPICS), start=1):
            name, tab, text = line.partition("\t")
            if not tab or not text.strip():
                raise UsageError(f"{folder / _TOPICS}:{number}: wanted is an id, a tab and a question")
            own.topics[name] = text.strip()
        for name, path, grade in read_qrels(folder / _QRELS):
            own.grades.setdefault(name, {})[path] = grade
        return own

    def add(self, text: str) -> str:
        """The id of the question, which is new or known."""
        text = " ".join(text.split())
        name = next((known for known, topic in self.topics.items() if topic == text), "")
        if not name:
            name = question_id(JUDGED, text)
            self.topics[name] = text
        return name

    def grade(self, name: str, path: str, grade: int) -> None:
        """Keep a grade, on disk when this returns. Raises UsageError if that fails."""
        if grade not in GRADES:
            raise UsageError(f"grade {grade}: allowed are {', '.join(map(str, GRADES))}")
        self.grades.setdefault(name, {})[path] = grade
        self.save()

    def save(self) -> None:
        """Write both files atomically. Raises UsageError if that fails."""
        topics = "".join(f"{name}\t{text}\n" for name, text in self.topics.items())
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / _TOPICS, topics.encode())
            write_atomically(self.folder / _QRELS, self.qrels().encode())
        except OSError as error:
            raise UsageError(f"{self.folder}: cannot be written: {error.strerror}") from error

    def qrels(self) -> str:
        """The grades in the form of TREC."""
        return "".join(
            f"{name} 0 {quote(path, safe=_SAFE)} {grade}\n"
            for name, graded in self.grades.items()
            for path, grade in graded.items()
        )

    def take(self, rows: Sequence[tuple[str, str, int]]) -> int:
        """Add the grades of qrels, over those that are there, and save. Returns how many changed anything.

        Raises UsageError for an id without a question.
        """
        unknown = sorted({name for name, _, _ in rows} - self.topics.keys())
        if unknown:
            raise UsageError(
                f"qrels: no question has the id {unknown[0]!r}; {self.folder / _TOPICS} lists them"
            )
        changed = 0
        for name, path, grade in rows:
            changed += self.grades.get(name, {}).get(path) != grade
            self.grades.setdefault(name, {})[path] = grade
        self.save()
        return changed

    def left(self, name: str, pool: Sequence[str]) -> list[str]:
        """The notes of the pool without a grade, in the order in which they are shown."""
        graded = self.grades.get(name, {})
        return [path for path in hidden_order(name, pool) if path not in graded]

    def questions(self) -> list[Question]:
        """The questions that have a note with a grade above 0; without one there is nothing to find."""
        return [
            Question(name, text, dict(graded), JUDGED)
            for name, text in self.topics.items()
            if any((graded := self.grades.get(name, {})).values())
        ]


def hidden_order(name: str, pool: Sequence[str]) -> list[str]:
    """The notes of a pool, each once, in the order of a hash of question and path: it tells no ranks."""
    return sorted(each_once(pool), key=lambda path: hashlib.sha256(f"{name}\0{path}".encode()).digest())


def pool_of(
    searcher: Searcher, snapshot: Snapshot, settings: Settings, text: str, depth: int = POOL_DEPTH
) -> list[str]:
    """The notes that any of the pooled rankings has among its first `depth`, sorted by path."""
    found: set[str] = set()
    for variant in parse_variants(POOLED):
        own = searcher.with_settings(settings_with(settings, variant.options, variant.name).search)
        found.update(ranked_paths(own, snapshot, text, depth))
    return sorted(found)


def read_qrels(file: Path) -> list[tuple[str, str, int]]:
    """Id, note and grade of each line of TREC qrels; none if there is no such file.

    Raises UsageError that names file and line.
    """
    rows = []
    for number, line in enumerate(_lines(file), start=1):
        fields = line.split()
        if len(fields) != 4 or not fields[3].lstrip("-").isdecimal():
            raise UsageError(f"{file}:{number}: wanted are four fields: id, 0, note, grade")
        rows.append((fields[0], unquote(fields[2]), max(int(fields[3]), 0)))
    return rows


def _lines(file: Path) -> list[str]:
    try:
        return [line for line in file.read_text("utf-8").split("\n") if line.strip()]
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UsageError(f"{file}: cannot be read: {reason}") from error
