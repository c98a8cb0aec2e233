"""Questions with graded notes, and the file that contains them: one JSON object per line.

    {"id": "…", "text": "shrink png images", "grades": {"Tools/oxipng.md": 2}, "kind": "judged"}

Generated questions also have `edits`, the text of the vault that must be hidden during their searches,
`excluded`, notes that do not count as found, and `sha256`, the hash of each note that they were made from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, get_type_hints
from urllib.parse import quote, unquote

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass
from pydantic_core import ErrorDetails

from vault_evals.statistics import each_once
from vault_indexer.config.fields import Allowed
from vault_indexer.config.schema import describe
from vault_indexer.config.values import printable
from vault_indexer.errors import UsageError
from vault_indexer.system import record, write_atomically
from vault_indexer.text.control_characters import json_text

JUDGED, CLICKED = "judged", "clicked"
LINK, SENTENCE, HEADING = "link", "sentence", "heading"
GENERATED_KINDS = (LINK, SENTENCE, HEADING)
TUNE, ASIDE = "tune", "aside"

_STRICT = ConfigDict(extra="forbid")
Grade = Annotated[int, Field(ge=0, le=100)]


@record
class Edit:
    """A span of a note's text, in characters, and its replacement during a question."""

    path: str
    start: int
    end: int
    replacement: str = ""


@checked_dataclass(frozen=True, slots=True, config=_STRICT)
class Question:
    """A question, and the grade of each note that was judged for it (0: does not help).

    `kind` is "judged" or "clicked" for a user question; "link", "sentence" or "heading" for a generated one.
    Paths are relative to the vault. `language` is ISO 639-1, or "".
    """

    id: str
    text: str
    grades: Annotated[Mapping[str, Grade], Allowed("paths of notes, each with a whole number from 0 to 100")]
    kind: str = JUDGED
    language: str = ""
    excluded: tuple[str, ...] = ()
    edits: Annotated[tuple[Edit, ...], Allowed("a list of {path, start, end, replacement}")] = ()
    sha256: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_generated(self) -> bool:
        """Whether it was generated from the vault; such questions are never pooled with user questions."""
        return self.kind in GENERATED_KINDS

    @property
    def target(self) -> str:
        """The note with the highest grade; of several, the first by path."""
        return min(self.grades, key=lambda path: (-self.grades[path], path), default="")

    @property
    def part(self) -> str:
        """The part of the question: one for tuning settings, the other reserved for testing them."""
        return part_of(self.target)


def part_of(path: str) -> str:
    """Tune or aside, by the SHA-256 of the path: the same on every computer and in every run."""
    return TUNE if hashlib.sha256(path.encode()).digest()[0] % 2 else ASIDE


def write_questions(file: Path, questions: Iterable[Question]) -> None:
    """Writes the file atomically. Raises UsageError on failure."""
    filled = (
        {name: value for name, value in asdict(one).items() if value or name in ("id", "text", "grades")}
        for one in questions
    )
    lines = list(map(json_text, filled))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, ("\n".join(lines) + "\n" if lines else "").encode())
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from error


def read_questions(file: Path) -> list[Question]:
    """The questions of a file. Raises UsageError that names file, line and mistake."""
    adapter = TypeAdapter(Question)
    questions = []
    seen: set[str] = set()
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            question = adapter.validate_json(line)
        except ValidationError as error:
            raise UsageError(f"{file}:{number}: {_mistake(error.errors(include_url=False)[0])}") from error
        if question.id in seen:
            raise UsageError(f"{file}:{number}: id {question.id!r} occurs twice in the file")
        seen.add(question.id)
        questions.append(question)
    return questions


def _mistake(details: ErrorDetails) -> str:
    key = ".".join(str(part) for part in details["loc"])
    if not key:
        return 'expected {"id": TEXT, "text": TEXT, "grades": {PATH: NUMBER}}'
    if details["type"] == "missing":
        return f"{key} is missing"
    if details["type"] == "unexpected_keyword_argument":
        return f"{key}: unknown key"
    kind = get_type_hints(Question, include_extras=True)[str(details["loc"][0])]
    return f"{key} = {printable(json_text(details['input']))}: {describe(kind)}"


def read_clicks(*files: Path) -> list[Question]:
    """Files of clicks as questions: lines of `{"query": …, "path": …}`; other keys are ignored.

    Each query is one question, and each note that was opened from its hits has grade 1. A click is no
    evidence about notes that were not shown, so these questions are a source of queries rather than of
    judgements. Raises UsageError that names file and line.
    """
    opened: dict[str, dict[str, int]] = {}
    lines = (
        (file, number, line) for file in files for number, line in enumerate(read_text(file).split("\n"), 1)
    )
    for file, number, line in lines:
        if not line.strip():
            continue
        try:
            click = json.loads(line)
            query, path = click["query"].strip(), click["path"].strip()
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UsageError(f'{file}:{number}: expected {{"query": TEXT, "path": TEXT}}') from error
        opened.setdefault(query, {})[path] = 1
    return [Question(question_id(CLICKED, query), query, grades, CLICKED) for query, grades in opened.items()]


def question_id(kind: str, *parts: str) -> str:
    """A reproducible id: the kind and 12 hexadecimal digits of the SHA-256 of the parts."""
    return f"{kind}-{hashlib.sha256(chr(0).join((kind, *parts)).encode()).hexdigest()[:12]}"


def read_text(file: Path, named: str = "") -> str:
    """The text of a file. Raises UsageError, which names it after `named`."""
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UsageError(f"{named}{file}: cannot be read: {reason}") from error


GRADES: Mapping[int, str] = {0: "does not help", 1: "helps", 2: "answers"}

_TOPICS, _QRELS = "topics.tsv", "qrels.txt"
_SAFE = "/!#$&'()*+,;=:@[]~"


@dataclass(slots=True)
class Judgements:
    """The grades of one folder, by question and note. Only one process at a time may write a folder."""

    folder: Path
    topics: dict[str, str] = field(default_factory=dict)
    grades: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> Judgements:
        """Loads the content of the folder; empty if it does not exist. Raises UsageError naming file and
        line."""
        own = cls(folder)
        for number, line in enumerate(_lines(folder / _TOPICS), start=1):
            name, tab, text = line.partition("\t")
            if not tab or not text.strip():
                raise UsageError(f"{folder / _TOPICS}:{number}: expected an id, a tab and a question")
            own.topics[name] = text.strip()
        for name, path, grade in read_qrels(folder / _QRELS):
            own.grades.setdefault(name, {})[path] = grade
        return own

    def add(self, text: str) -> str:
        text = " ".join(text.split())
        name = next((known for known, topic in self.topics.items() if topic == text), "")
        if not name:
            name = question_id(JUDGED, text)
            self.topics[name] = text
        return name

    def grade(self, name: str, path: str, grade: int) -> None:
        """Stores a grade durably. Raises UsageError on failure."""
        if grade not in GRADES:
            raise UsageError(f"grade {grade}: choose one of {', '.join(map(str, GRADES))}")
        self.grades.setdefault(name, {})[path] = grade
        self.save()

    def save(self) -> None:
        """Writes both files atomically. Raises UsageError on failure."""
        topics = "".join(f"{name}\t{text}\n" for name, text in self.topics.items())
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / _TOPICS, topics.encode())
            write_atomically(self.folder / _QRELS, self.qrels().encode())
        except OSError as error:
            raise UsageError(f"{self.folder}: cannot be written: {error.strerror}") from error

    def qrels(self) -> str:
        return "".join(
            f"{name} 0 {quote(path, safe=_SAFE)} {grade}\n"
            for name, graded in self.grades.items()
            for path, grade in graded.items()
        )

    def take(self, rows: Sequence[tuple[str, str, int]]) -> int:
        """Adds the grades of qrels, replacing existing ones, and saves. Returns the number of changes.

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
        """The notes of the pool without a grade, in display order."""
        graded = self.grades.get(name, {})
        return [path for path in hidden_order(name, pool) if path not in graded]

    def questions(self) -> list[Question]:
        """The questions with at least one grade above 0; the others have nothing to find."""
        return [
            Question(name, text, dict(graded), JUDGED)
            for name, text in self.topics.items()
            if any((graded := self.grades.get(name, {})).values())
        ]


def hidden_order(name: str, pool: Sequence[str]) -> list[str]:
    """The distinct notes of a pool, in the order of a hash of question and path, which hides the ranks."""
    return sorted(each_once(pool), key=lambda path: hashlib.sha256(f"{name}\0{path}".encode()).digest())


def read_qrels(file: Path) -> list[tuple[str, str, int]]:
    """The id, note and grade of each line of TREC qrels; empty if there is no such file.

    Raises UsageError that names file and line.
    """
    rows = []
    for number, line in enumerate(_lines(file), start=1):
        fields = line.split()
        if len(fields) != 4 or not fields[3].lstrip("-").isdecimal():
            raise UsageError(f"{file}:{number}: expected four fields: id, 0, note, grade")
        # TREC marks spam with negative grades.
        rows.append((fields[0], unquote(fields[2]), max(int(fields[3]), 0)))
    return rows


def _lines(file: Path) -> list[str]:
    return [line for line in read_text(file).split("\n") if line.strip()] if file.exists() else []


RANKING_FOLDER = "ranking"


def generated_file(cases: Path) -> Path:
    return cases / RANKING_FOLDER / "generated.jsonl"


def judged_folder(cases: Path) -> Path:
    return cases / RANKING_FOLDER / "judged"


def clicks_folder(cases: Path) -> Path:
    return cases / RANKING_FOLDER / "clicks"


def load_questions(cases: Path) -> list[Question]:
    """All questions of a folder of cases; empty if it has no folder `ranking`.

    Raises UsageError for a file that is not valid, or an id that occurs in two files.
    """
    folder = cases / RANKING_FOLDER
    found = [one for file in sorted(folder.glob("*.jsonl")) for one in read_questions(file)]
    found += Judgements.load(judged_folder(cases)).questions()
    found += read_clicks(*sorted(clicks_folder(cases).glob("*.jsonl")))
    seen: set[str] = set()
    for question in found:
        if question.id in seen:
            raise UsageError(f"{folder}: id {question.id!r} occurs in two files")
        seen.add(question.id)
    return found
