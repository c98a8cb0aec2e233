"""Generates questions from a vault: its headings and the texts of its links, each hidden during its question.

All notes are read once, in order of path. A candidate contains the text that must be hidden. Names of a note
are not used as questions: search by name finds them with any configuration.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from vault_evals.questions import HEADING, LINK, Edit, Question, question_id
from vault_indexer.daemon.assembly import Target
from vault_indexer.errors import NoteError
from vault_indexer.index.reading import note_from
from vault_indexer.model import FileKind, Heading, Link, LinkKind, Note
from vault_indexer.parse import VaultPaths, resolve
from vault_indexer.parse.notes import decode
from vault_indexer.parse.plain import plain
from vault_indexer.system import record
from vault_indexer.text.language import is_function_word
from vault_indexer.text.tokens import RUN, WORD
from vault_indexer.vault import CONTROL_FILES, Decision, Scan, load_ignore_rules, read_note, scan

LEAST_WORDS = 2
"""The minimum number of content words of a question."""

MAX_QUERY_CHARS = 500
_CHARS_A_WORD = 2
"""In scripts without spaces, this many characters count as a word."""

_WORDS = re.compile(r"\w+")
_SPACE = re.compile(r"\s+")
_BLOCK_ID = re.compile(r"\s\^[\w-]+\s*$")
_ATX = re.compile(r"(?P<marks> {0,3}#{1,6}[ \t]+)(?P<text>[^\n]*)")
_NOT_PROSE = re.compile(r"`|\{\{|\}\}|<%|%>|\$\$|\|.*\|")
"""Code, the placeholders of templates, formulas, rows of tables."""

_TEMPLATE_FOLDERS = frozenset({"template", "templates", "_templates", "vorlagen", "plantillas"})
_TEMPLATE = re.compile(r"<%[-_=*+\s]|\{\{\s*(?:title|date|time|content)\b[^}]*\}\}")

ShowProgress = Callable[[int, int], None]


@record
class Candidate:
    """A possible question. `source` is the note that contains the text, which for links differs from
    `target`; `edits` hide it."""

    kind: str
    text: str
    language: str
    target: str
    source: str
    edits: tuple[Edit, ...]


@dataclass(slots=True)
class Survey:
    """All candidates of a vault, and the hashes of its notes by path."""

    candidates: list[Candidate] = field(default_factory=list)
    sha256: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Surveyor:
    paths: VaultPaths
    notes: frozenset[str]
    survey: Survey = field(default_factory=Survey)
    names: dict[str, frozenset[str]] = field(default_factory=dict)
    templates: set[str] = field(default_factory=set)
    headings: Counter[str] = field(default_factory=Counter)
    linked_headings: set[tuple[str, str]] = field(default_factory=set)

    def read(self, note: Note, sha256: str) -> None:
        self.survey.sha256[note.path] = sha256
        self.names[note.path] = frozenset(
            filter(None, map(same, (note.title, PurePosixPath(note.path).stem, *note.aliases)))
        )
        resolved = [(link, resolve(link.target, note.path, self.paths).path) for link in note.links]
        for link, path in resolved:
            if link.subpath and path:
                self.linked_headings.add((path, same(link.subpath.rpartition("#")[2])))
        if is_template(note):
            self.templates.add(note.path)
            return
        self.headings.update(same(heading.text) for heading in note.headings)
        self.survey.candidates += self._links(note, resolved)
        self.survey.candidates += self._headings(note)

    def finish(self) -> Survey:
        """The candidates that remain once the whole vault has been read."""
        left = [candidate for candidate in self.survey.candidates if self._is_question(candidate)]
        targets: defaultdict[str, set[str]] = defaultdict(set)
        for one in left:
            targets[same(one.text)].add(one.target)
        # A question that two notes answer does not show which of them should be found.
        self.survey.candidates = [one for one in left if len(targets[same(one.text)]) == 1]
        return self.survey

    def _is_question(self, one: Candidate) -> bool:
        if one.target in self.templates or one.target not in self.names:
            return False
        text = same(one.text)
        if any(is_named(text, name) for name in self.names[one.target]):
            return False
        is_linked = (one.target, text) in self.linked_headings
        return one.kind == LINK or (self.headings[text] == 1 and not is_linked)

    def _links(self, note: Note, resolved: Sequence[tuple[Link, str | None]]) -> Iterator[Candidate]:
        for link, target in resolved:
            if link.kind not in (LinkKind.WIKILINK, LinkKind.MARKDOWN) or target not in self.notes:
                continue
            if target is None or target == note.path or not is_fit(link.display or "", note.language):
                continue
            same_target = [other for other, path in resolved if path == target]
            if any(other.kind is LinkKind.FRONTMATTER for other in same_target):
                continue  # the link stays in the properties
            text = as_query(link.display or "")
            if is_named(same(text), same(link.subpath)):
                continue
            hidden = [_hidden_link(note, other, text) for other in same_target]
            yield Candidate(LINK, text, note.language, target, note.path, tuple(hidden))

    def _headings(self, note: Note) -> Iterator[Candidate]:
        whole = ""
        for at, heading in enumerate(note.headings):
            is_title = at == 0 and heading.level == 1
            if heading.nested or is_title or not is_fit(heading.text, note.language):
                continue
            edit = _hidden_heading(note, heading)
            whole = whole or same(note.text)
            if edit is not None and whole.count(same(heading.text)) == 1:
                text = as_query(heading.text)
                yield Candidate(HEADING, text, note.language, note.path, note.path, (edit,))


def survey_vault(target: Target, say: ShowProgress) -> Survey:
    """All candidates of the vault. `say` gets the number of notes read and their total.

    Notes that cannot be read or parsed yield no candidates. Raises VaultError for a vault that cannot be
    read.
    """
    found = scan_vault(target)
    chosen = [
        file.path for file in found.files if file.decision is Decision.INDEX and file.kind is FileKind.NOTE
    ]
    surveyor = _Surveyor(VaultPaths(file.path for file in found.files), frozenset(chosen))
    for number, path in enumerate(chosen):
        say(number, len(chosen))
        try:
            data = read_note(target.vault, path, target.config.settings.files.limits.of(path))
            surveyor.read(note_from(path, data.data), data.sha256)
        except NoteError:
            continue
    say(len(chosen), len(chosen))
    return surveyor.finish()


def is_template(note: Note) -> bool:
    """Whether the note is a template, by its folder or by content that only templates have."""
    folders = note.path.lower().split("/")[:-1]
    return not _TEMPLATE_FOLDERS.isdisjoint(folders) or _TEMPLATE.search(note.text) is not None


def is_fit(source: str, language: str) -> bool:
    """Whether the text has enough words for a question, without code, formulas, tables and placeholders."""
    if len(source) > MAX_QUERY_CHARS or _NOT_PROSE.search(source):
        return False
    return content_words(as_query(source), language) >= LEAST_WORDS


def as_query(source: str) -> str:
    """The source text as a user would type it: without markup, on one line."""
    return _SPACE.sub(" ", plain(_BLOCK_ID.sub("", source))).strip()


def content_words(text: str, language: str) -> int:
    """The number of words that are neither function words of the language nor only digits.

    In scripts without spaces, two characters count as a word.
    """
    words = [word for word in WORD.findall(text) if any(map(str.isalpha, word)) and len(word) > 1]
    spaceless = sum(len(run) // _CHARS_A_WORD for run in RUN.findall(text))
    return sum(not is_function_word(word, language or "en") for word in words) + spaceless


def same(text: str) -> str:
    """The form for comparing texts: only words, in lower case."""
    return " ".join(_WORDS.findall(text.casefold()))


def is_named(text: str, name: str) -> bool:
    """Whether a text is a name or part of one, or contains a name of several words; both as returned by
    `same`."""
    return set(text.split()) <= set(name.split()) or (" " in name and f" {name} " in f" {text} ")


def _hidden_link(note: Note, link: Link, question: str) -> Edit:
    """Removes the link. Its visible text stays, unless it is the question."""
    shown = "" if link.kind is LinkKind.EMBED else link.display or link.target
    is_question = same(question) in same(shown)
    return Edit(note.path, link.start, link.end, "" if is_question else shown)


def _hidden_heading(note: Note, heading: Heading) -> Edit | None:
    """Hides the text and keeps the marks and thus the section. None for an underlined heading."""
    match = _ATX.match(note.text, heading.start)
    return Edit(note.path, match.start("text"), match.end("text")) if match else None


DEFAULT_PER_KIND = 300


def choose_questions(survey: Survey, per_kind: int = DEFAULT_PER_KIND) -> list[Question]:
    """Up to `per_kind` questions of each kind, in the order of a SHA-256 of their content.

    Within a kind, no two questions share a target or a source. No two questions of any kind hide the same
    text.
    """
    taken: dict[str, list[Edit]] = {}
    questions: list[Question] = []
    for kind in (LINK, HEADING):
        targets: set[str] = set()
        sources: set[str] = set()
        for one in sorted(
            (candidate for candidate in survey.candidates if candidate.kind == kind), key=_order
        ):
            if len(targets) >= per_kind:
                break
            if one.target in targets or one.source in sources or _overlaps(one, taken):
                continue
            targets.add(one.target)
            sources.add(one.source)
            for edit in one.edits:
                taken.setdefault(edit.path, []).append(edit)
            questions.append(_question(one, survey))
    return questions


def _question(one: Candidate, survey: Survey) -> Question:
    return Question(
        id=question_id(one.kind, one.target, one.source, one.text),
        text=one.text,
        grades={one.target: 1},
        kind=one.kind,
        language=one.language,
        excluded=(one.source,) if one.kind == LINK else (),
        edits=one.edits,
        sha256={path: survey.sha256[path] for path in dict.fromkeys((one.target, one.source))},
    )


def _order(one: Candidate) -> bytes:
    return hashlib.sha256("\0".join((one.kind, one.target, one.source, one.text)).encode()).digest()


def _overlaps(one: Candidate, taken: dict[str, list[Edit]]) -> bool:
    return any(
        edit.start < other.end and other.start < edit.end
        for edit in one.edits
        for other in taken.get(edit.path, ())
    )


def scan_vault(target: Target) -> Scan:
    files = target.config.settings.files
    return scan(target.vault, load_ignore_rules(target.vault, files), limits=files.limits)


def current_hashes(target: Target, questions: Iterable[Question]) -> dict[str, str]:
    """The SHA-256 of each existing note that the questions name."""
    paths = {path for question in questions for path in (*question.grades, *question.sha256)}
    found: dict[str, str] = {}
    for path in sorted(paths):
        with suppress(NoteError):
            found[path] = read_note(target.vault, path, target.config.settings.files.limits.of(path)).sha256
    return found


@contextmanager
def shadow_vault(target: Target, questions: Sequence[Question], folder: Path) -> Iterator[Path]:
    """The folder, filled with the vault as edited for the questions; removed at the end."""
    try:
        write_shadow(target, questions, folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_shadow(target: Target, questions: Sequence[Question], folder: Path) -> None:
    """Fills the folder: notes with their edits, control files, and attachments as empty files.

    Modification times are preserved, since they affect a ranking.
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
        if file.kind in (FileKind.ATTACHMENT, FileKind.DOCUMENT) and file.decision is not Decision.INDEX:
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
    """The text after the edits. The combined span of overlapping edits is removed."""
    parts: list[str] = []
    position = 0
    for edit in sorted(set(edits), key=lambda one: (one.start, one.end)):
        if edit.start >= position:
            parts += (text[position : edit.start], edit.replacement)
        position = max(position, edit.end)
    return "".join((*parts, text[position:]))


def _write_edited(target: Target, path: str, copy: Path, edits: Iterable[Edit]) -> None:
    data = read_note(target.vault, path, target.config.settings.files.limits.of(path)).data
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(edited(decode(path, data)[0], edits).encode())


def _copy(original: Path, copy: Path) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(original, copy)
