"""What each note offers as questions: link contexts, sentences, headings.

All notes are read once, in order of path. A candidate knows which text must be hidden while it is asked.
Titles and aliases are never questions: search by name finds them, whatever the configuration.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import MappingProxyType

from vault_indexer.daemon.assembly import Target
from vault_indexer.errors import NoteError
from vault_indexer.evals.generate.english_forms import ENGLISH
from vault_indexer.evals.generate.german_forms import GERMAN
from vault_indexer.evals.generate.prose import (
    Sentence,
    as_query,
    content_words,
    is_prose,
    is_template,
    prose_sentences,
    same,
)
from vault_indexer.evals.generate.question_forms import GAP, QuestionForms
from vault_indexer.evals.generate.shadow import scan_vault
from vault_indexer.evals.generate.spanish_forms import SPANISH
from vault_indexer.evals.questions import HEADING, LINK, SENTENCE, Edit
from vault_indexer.index.reading.note import note_from
from vault_indexer.model import FileKind, Heading, Link, LinkKind, Note
from vault_indexer.parse import VaultPaths, resolve
from vault_indexer.vault import Decision, read_note

LEAST_WORDS = 2
LEAST_WORDS_OF_SENTENCE = 6
"""Content words of a question."""

MAX_QUERY_CHARS = 500
"""Longer sentences are lists or tables in disguise."""

LEAST_SENTENCES_LEFT = 2
"""A note that loses a sentence must still have this number of others, or nothing could find it."""

LANGUAGES: Mapping[str, QuestionForms] = MappingProxyType(
    {"de": GERMAN, "en": ENGLISH, "es": SPANISH, "": ENGLISH}
)
"""The languages whose questions have forms; a note whose language is not known is read as English. In others
whole sentences and headings are asked as they stand."""

_ATX = re.compile(r"(?P<marks> {0,3}#{1,6}[ \t]+)(?P<text>[^\n]*)")

ShowProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that could be asked. `source` is the note that holds the text, for links another than
    `target`; `edits` hide it. `key` stands for the text as written: what occurs twice is no question."""

    kind: str
    text: str
    language: str
    target: str
    source: str
    edits: tuple[Edit, ...]
    key: bytes = b""


@dataclass(slots=True)
class _Names:
    """By what names a note is called, folded."""

    own: frozenset[str]

    @classmethod
    def of(cls, note: Note) -> _Names:
        names = (note.title, PurePosixPath(note.path).stem, *note.aliases)
        return cls(frozenset(filter(None, map(same, names))))

    def holds(self, text: str) -> bool:
        """Whether the text is one of the names, or contains one of several words."""
        folded = same(text)
        return folded in self.own or any(" " in name and f" {name} " in f" {folded} " for name in self.own)


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
    names: dict[str, _Names] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    templates: set[str] = field(default_factory=set)
    occurrences: Counter[bytes] = field(default_factory=Counter)
    linked_headings: set[tuple[str, str]] = field(default_factory=set)

    def read(self, note: Note, sha256: str) -> None:
        """Take what the note offers."""
        self.survey.sha256[note.path] = sha256
        self.names[note.path] = _Names.of(note)
        self.languages[note.path] = note.language
        resolved = [(link, resolve(link.target, note.path, self.paths).path) for link in note.links]
        for link, path in resolved:
            if link.subpath and path:
                self.linked_headings.add((path, same(link.subpath.rpartition("#")[2])))
        if is_template(note):
            self.templates.add(note.path)
            return
        sentences = list(prose_sentences(note))
        self._count(note, sentences)
        self.survey.candidates += self._link_contexts(note, sentences, resolved)
        self.survey.candidates += self._sentences(note, sentences)
        self.survey.candidates += self._headings(note)

    def finish(self) -> Survey:
        """The candidates that still stand when the whole vault is known."""
        standing = [one for one in self.survey.candidates if self._stands(one)]
        targets: dict[str, set[str]] = {}
        for one in standing:
            targets.setdefault(same(one.text), set()).add(one.target)
        # What two notes answer says nothing of which of them is found.
        self.survey.candidates = [one for one in standing if len(targets[same(one.text)]) == 1]
        return self.survey

    def _stands(self, one: Candidate) -> bool:
        if one.target in self.templates or one.target not in self.names:
            return False
        if one.kind == LINK:
            return not self.names[one.target].holds(one.text)
        if one.kind == HEADING and (one.target, same(one.text)) in self.linked_headings:
            return False
        return self.occurrences[one.key] == 1

    def _count(self, note: Note, sentences: Sequence[Sentence]) -> None:
        self.occurrences.update(_key(heading.text) for heading in note.headings)
        self.occurrences.update(_key(note.text[one.start : one.end]) for one in sentences)

    def _link_contexts(
        self, note: Note, sentences: Sequence[Sentence], resolved: Sequence[tuple[Link, str | None]]
    ) -> Iterator[Candidate]:
        for link, target in resolved:
            if link.kind not in (LinkKind.WIKILINK, LinkKind.MARKDOWN) or target not in self.notes:
                continue
            sentence = next(
                (one for one in sentences if one.start <= link.start and link.end <= one.end), None
            )
            if target is None or target == note.path or sentence is None:
                continue
            others = [other for other, path in resolved if path == target and other is not link]
            if any(other.kind is LinkKind.FRONTMATTER for other in others):
                continue  # the link stays in the properties
            inside = [other for other in others if _lies_in(other, sentence)]
            text = _without(note.text, sentence, [link, *inside])
            query = self._asked(text, note.language, LEAST_WORDS)
            if query:
                elsewhere = [other for other in others if other not in inside]
                unlinked = [Edit(note.path, one.start, one.end, _shown(one)) for one in elsewhere]
                hidden = Edit(note.path, sentence.start, sentence.end)
                yield Candidate(LINK, query, note.language, target, note.path, (hidden, *unlinked))

    def _sentences(self, note: Note, sentences: Sequence[Sentence]) -> Iterator[Candidate]:
        if len(sentences) <= LEAST_SENTENCES_LEFT:
            return
        for one in sentences:
            text = note.text[one.start : one.end]
            has_link = any(_lies_in(link, one) for link in note.links)
            if not one.in_paragraph or has_link:
                continue
            query = self._asked(text, note.language, LEAST_WORDS_OF_SENTENCE)
            if query:
                edit = Edit(note.path, one.start, one.end)
                yield Candidate(SENTENCE, query, note.language, note.path, note.path, (edit,), _key(text))

    def _headings(self, note: Note) -> Iterator[Candidate]:
        names = self.names[note.path]
        forms = LANGUAGES.get(note.language)
        in_guide = forms is not None and forms.is_guide(note.text)
        whole = ""
        for at, heading in enumerate(note.headings):
            is_title = at == 0 and heading.level == 1
            if heading.nested or is_title or names.holds(heading.text):
                continue
            edit = _hidden_heading(note, heading)
            if edit is None or not self._is_fit(heading.text, note.language, LEAST_WORDS):
                continue
            whole = whole or same(note.text)
            if whole.count(same(heading.text)) == 1:
                text, key = as_query(heading.text), _key(heading.text)
                text = forms.heading_as_question(text, in_guide=in_guide) if forms else text
                if text:
                    yield Candidate(HEADING, text, note.language, note.path, note.path, (edit,), key)

    def _asked(self, source: str, language: str, least: int) -> str:
        """What is asked of the source text of a sentence whose links are `GAP`s, "" if nothing is. In a
        language without forms of questions it is the sentence, if it lacks nothing."""
        if not self._is_fit(source.replace(GAP, " "), language, least):
            return ""
        text = as_query(source)
        forms = LANGUAGES.get(language)
        if forms is None:
            return "" if GAP in text else text
        question = forms.as_question(text)
        return question if content_words(question, language) >= LEAST_WORDS else ""

    def _is_fit(self, source: str, language: str, least: int) -> bool:
        if len(source) > MAX_QUERY_CHARS or not is_prose(source):
            return False
        return content_words(as_query(source), language) >= least


def survey_vault(target: Target, say: ShowProgress) -> Survey:
    """All candidates of the vault. `say` hears how many notes were read, of how many.

    Notes that cannot be read or parsed offer nothing. Raises VaultError for a vault that cannot be read.
    """
    found = scan_vault(target)
    chosen = [
        file.path for file in found.files if file.decision is Decision.INDEX and file.kind is FileKind.NOTE
    ]
    surveyor = _Surveyor(VaultPaths(file.path for file in found.files), frozenset(chosen))
    for number, path in enumerate(chosen):
        say(number, len(chosen))
        try:
            data = read_note(target.vault, path, target.config.settings.files.max_file_bytes)
            surveyor.read(note_from(path, data.data), data.sha256)
        except NoteError:
            continue
    say(len(chosen), len(chosen))
    return surveyor.finish()


def _key(text: str) -> bytes:
    return hashlib.blake2b(same(text).encode(), digest_size=8).digest()


def _lies_in(link: Link, sentence: Sentence) -> bool:
    return sentence.start <= link.start and link.end <= sentence.end


def _without(text: str, sentence: Sentence, links: Sequence[Link]) -> str:
    """The sentence's source with a `GAP` for each of the links."""
    parts, at = [], sentence.start
    for link in sorted(links, key=lambda one: one.start):
        parts.append(text[at : max(at, link.start)])
        at = max(at, link.end)
    return GAP.join((*parts, text[at : sentence.end]))


def _shown(link: Link) -> str:
    """What a reader saw of the link; of an embed nothing."""
    return "" if link.kind is LinkKind.EMBED else link.display or link.target


def _hidden_heading(note: Note, heading: Heading) -> Edit | None:
    """Hides the text and keeps the marks, so that sections stay. None for an underlined heading."""
    match = _ATX.match(note.text, heading.start)
    return Edit(note.path, match.start("text"), match.end("text")) if match else None
