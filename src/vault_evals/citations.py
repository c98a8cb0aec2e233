"""Layer 2: whether the passages that a case cites are where it claims, and whether an answer cites them.

A citation is looked up only in a `NoteSource`, which is either the index or the files: a live check that read
the index would find every note unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Protocol

from vault_evals.agents import AgentAnswer, CitedSpan, EvalService
from vault_evals.cases import CitationsExpected, ExpectedCitation, is_url, replace_citation, sha256_of
from vault_evals.pages import Located, PageSource, check_page
from vault_evals.results import Check, Outcome, outcome_of
from vault_evals.wording import closest_passage, diff_of, holds
from vault_indexer.config.settings import FilesSettings
from vault_indexer.errors import NoteError, UnknownNoteError
from vault_indexer.index.reading import parse_file
from vault_indexer.model import Note
from vault_indexer.parse import parse_note
from vault_indexer.system import record
from vault_indexer.vault import Decision, NoteVanished, load_ignore_rules, read_note, scan

# The notes that citations are checked against: as indexed, or as the files are now.


@record
class NoteText:
    """A note's text with its headings and blocks. `outline` is the parsed note; its positions are those of
    the text."""

    path: str
    text: str
    outline: Note

    @classmethod
    def of(cls, path: str, text: str) -> NoteText:
        """Parses the note with this text. Raises NoteError."""
        return cls(path, text, parse_note(path, text.encode("utf-8", "replace")))

    def heading_at(self, position: int) -> str:
        """The nearest heading above a position, "" before the first."""
        title = ""
        for section in self.outline.sections:
            if section.start > position:
                break
            title = section.title
        return title

    def section_spans(self, heading: str) -> list[tuple[int, int]]:
        return [(section.start, section.end) for section in self.outline.sections if section.title == heading]

    def block_span(self, block: str) -> tuple[int, int] | None:
        wanted = block.removeprefix("^").casefold()
        spans = ((one.start, one.end) for one in self.outline.blocks if one.id.casefold() == wanted)
        return next(spans, None)

    def line_at(self, position: int) -> int:
        """The line of a position, from 1."""
        return self.text.count("\n", 0, position) + 1


class NoteSource(Protocol):
    def paths(self) -> Sequence[str]:
        """The paths of all notes, in order."""
        ...

    def text(self, path: str) -> str | None:
        """The text of the note at a path; None if there is none. Raises VaultIndexerError."""
        ...


def vault_file_check(vault: Path, files: FilesSettings) -> Callable[[Path], bool]:
    """A predicate for the files that a run requested by an agent may read: files of the vault, also behind
    symbolic links, that no rule excludes and that do not exceed the size limit of notes. Raises
    ExclusionError."""
    rules = load_ignore_rules(vault, files)
    root = vault.resolve()

    def may_read(file: Path) -> bool:
        try:
            real = file.resolve(strict=True)
            is_small = real.stat().st_size <= files.limits.of(real.name)
        except OSError:
            return False
        if not is_small or not real.is_relative_to(root):
            return False
        return rules.decide(real.relative_to(root).as_posix(), is_dir=False) is not Decision.IGNORE

    return may_read


class IndexedNotes:
    def __init__(self, service: EvalService) -> None:
        self._service = service
        self._paths = service.note_paths()
        self._known = frozenset(self._paths)

    def paths(self) -> Sequence[str]:
        return self._paths

    def text(self, path: str) -> str | None:
        if path not in self._known:  # the service accepts names, but a citation must contain a path
            return None
        try:
            return self._service.indexed_text(path)
        except UnknownNoteError:  # removed since the paths were listed
            return None


class VaultFiles:
    """The current notes, read from the files without the index.

    Notes are the files that remain after the settings, `.indexerignore` and Obsidian's own filters. The files
    are listed when a note is first requested.
    """

    def __init__(self, vault: Path, files: FilesSettings) -> None:
        self._vault = vault
        self._files = files
        self._paths: list[str] | None = None

    def paths(self) -> Sequence[str]:
        """The paths of all notes, in order. Raises VaultError."""
        if self._paths is None:
            rules = load_ignore_rules(self._vault, self._files)
            found = scan(self._vault, rules, limits=self._files.limits).files
            self._paths = [one.path for one in found if one.decision is Decision.INDEX]
        return self._paths

    def text(self, path: str) -> str | None:
        """The text of the file at a path. Raises VaultError, and NoteError if it cannot be read."""
        if path not in self.paths():
            return None
        try:
            return parse_file(path, read_note(self._vault, path, self._files.limits.of(path)).data).text
        except NoteVanished:
            return None
        except NoteError as error:
            raise NoteError(f"{path}: {error}") from error


_LEAST_TO_SEARCH_FOR = 12
"""The minimum number of characters. A shorter quote may occur in any note by chance, so it is searched only
in notes with the same file name."""


def locate_citation(citation: ExpectedCitation, notes: NoteSource, pages: PageSource) -> Located:
    """The state of a citation of a note or a page. Raises VaultIndexerError if it cannot be read."""
    return check_page(citation, pages) if citation.url else locate(citation, notes)


def locate(citation: ExpectedCitation, notes: NoteSource) -> Located:
    """The state of a citation of a note. Raises VaultIndexerError if a note cannot be read."""
    text = notes.text(citation.path)
    if not citation.quote:
        return Located("gone", None, "the note is gone") if text is None else Located("same", citation)
    if text is not None:
        found = _in_note(citation, NoteText.of(citation.path, text))
        if found is not None:
            return found
    found = _in_other_note(citation, notes)
    if found is not None:
        return found
    why = "the note is gone" if text is None else "the note has no similar passage"
    return Located("gone", None, why)


def _in_note(citation: ExpectedCitation, note: NoteText) -> Located | None:
    """Finds the citation in its own note, with the same words or similar ones."""
    start = _nearest_occurrence(citation, note)
    if start is None:
        return _changed(citation, note)
    now = _at(citation, note, start, citation.quote)
    differences = [
        f"{key} {before!r}, now {after!r}"
        for key in ("start", "heading", "block")
        if (before := getattr(citation, key)) is not None and before != (after := getattr(now, key))
    ]
    line = note.line_at(start)
    if citation.start is None or citation.sha256 is None:
        differences.append("its position or hash is not recorded")
    if differences:
        return Located("moved", now, ", ".join(differences), line=line)
    return Located("same", now, line=line)


def _nearest_occurrence(citation: ExpectedCitation, note: NoteText) -> int | None:
    """The occurrence of the quote within the block or under the heading that is nearest to the start."""
    places = list(_occurrences(note.text, citation.quote))
    if not places:
        return None
    spans = _place_spans(citation, note)
    wanted = citation.start or 0
    return min(places, key=lambda at: (not any(a <= at < b for a, b in spans), abs(at - wanted)))


def _occurrences(text: str, quote: str) -> Iterator[int]:
    start = text.find(quote)
    while start >= 0:
        yield start
        start = text.find(quote, start + 1)


def _place_spans(citation: ExpectedCitation, note: NoteText) -> list[tuple[int, int]]:
    """The spans of the block or of the heading that the citation names."""
    if citation.block is not None:
        span = note.block_span(citation.block)
        return [span] if span else []
    return [] if citation.heading is None else note.section_spans(citation.heading)


def _changed(citation: ExpectedCitation, note: NoteText) -> Located | None:
    """The passage of the note that is most similar to the quote, under its heading if that exists."""
    for start, end in [*_place_spans(citation, note), (0, len(note.text))]:
        span = closest_passage(citation.quote, note.text, start, end)
        if span is not None:
            quote = note.text[span[0] : span[1]]
            now = _at(citation, note, span[0], quote)
            return Located(
                "changed", now, "the words differ", diff_of(citation.quote, quote), note.line_at(span[0])
            )
    return None


def _at(citation: ExpectedCitation, note: NoteText, start: int, quote: str) -> ExpectedCitation:
    end = start + len(quote)
    span = note.block_span(citation.block) if citation.block is not None else None
    in_block = span is not None and span[0] <= start and end <= span[1]
    return replace_citation(
        citation,
        path=note.path,
        heading=None if in_block and citation.heading is None else note.heading_at(start),
        block=citation.block if in_block else None,
        start=start,
        end=end,
        quote=quote,
        sha256=sha256_of(quote),
    )


def _in_other_note(citation: ExpectedCitation, notes: NoteSource) -> Located | None:
    """Finds the quote in another note: first in a note with the same file name, then in any."""
    name = citation.path.rpartition("/")[2]
    others = [path for path in notes.paths() if path != citation.path]
    namesakes = [path for path in others if path.rpartition("/")[2] == name]
    is_telling = len(citation.quote) >= _LEAST_TO_SEARCH_FOR
    for path in [*namesakes, *(others if is_telling else [])]:
        found = _moved_to(citation, path, notes)
        if found is not None:
            return found
    if len(namesakes) == 1 and notes.text(citation.path) is None:
        text = notes.text(namesakes[0])
        found = _changed(citation, NoteText.of(namesakes[0], text)) if text is not None else None
        return replace(found, detail=f"now in {namesakes[0]}; the words differ") if found else None
    return None


def _moved_to(citation: ExpectedCitation, path: str, notes: NoteSource) -> Located | None:
    try:
        text = notes.text(path)
    except NoteError:  # a note that the case does not name cannot be read, so nothing can have moved there
        return None
    if text is None or citation.quote not in text:
        return None
    note = NoteText.of(path, text)
    start = _nearest_occurrence(citation, note)
    assert start is not None
    return Located(
        "note moved", _at(citation, note, start, citation.quote), f"now in {path}", "", note.line_at(start)
    )


def check_citations(
    expected: CitationsExpected, answer: AgentAnswer | None, notes: NoteSource, pages: PageSource
) -> Outcome:
    """The outcome of all citations and phrases. `answer` is None for a case without a query: then only the
    citations are verified. Raises VaultIndexerError if a note or page cannot be read."""
    cited_ones = expected.expected_citations
    checks = [check for one in cited_ones for check in _expected(one, answer, notes, pages)]
    if answer is None:
        passages = [one.quote for one in cited_ones]
    else:
        for one in answer.citations:
            fault = _page_fault(one, pages) if is_url(one.path) else _note_fault(one, notes)
            checks.append(Check(not fault, fault))
        cited = dict.fromkeys((*answer.sources, *(one.path for one in answer.citations)))
        # The words of a cited span from the note, not as repeated by the agent.
        passages = [
            (notes.text(one.path) or "")[one.start : one.end]
            for one in answer.citations
            if not is_url(one.path)
        ]
        passages += [pages.page(url).text for url in cited if is_url(url)]
    for phrase in expected.support_phrases:
        stands = any(holds(passage, phrase) for passage in passages)
        checks.append(Check(stands, f"support_phrases: {phrase!r} does not occur in any cited passage"))
    return outcome_of(checks)


def _expected(
    citation: ExpectedCitation, answer: AgentAnswer | None, notes: NoteSource, pages: PageSource
) -> Iterator[Check]:
    located = locate_citation(citation, notes, pages)
    if located.state == "same":
        yield Check(True)
    else:
        said = f"{citation.name}: {located.state}: {located.detail}"
        # The words are still in the note.
        yield Check(located.state == "moved", _with_diff(said, located.diff), is_remark=True)
    if answer is None:
        return
    if citation.url:
        if answer.sources:
            reason = f"expected_citations: the answer does not cite {citation.url}"
            yield Check(citation.url in answer.sources, reason)
    elif located.now is not None:
        cites = any(_overlaps(one, located.now) for one in answer.citations)
        at = f"{located.now.path}, line {located.line}" if located.line else located.now.path
        yield Check(cites, f"expected_citations: the answer does not cite {at}")


def _overlaps(cited: CitedSpan, wanted: ExpectedCitation) -> bool:
    if wanted.start is None or wanted.end is None:  # the whole note
        return cited.path == wanted.path
    return cited.path == wanted.path and cited.start < wanted.end and wanted.start < cited.end


def _page_fault(cited: CitedSpan, pages: PageSource) -> str:
    """The fault of a citation of a page, "" if it has none. Positions are those of the page as the agent read
    it, so its quote alone is looked for."""
    checked = check_page(ExpectedCitation(url=cited.path, quote=cited.quote), pages)
    return f"the answer cites {cited.path}: {checked.detail}" if checked.state in ("gone", "changed") else ""


def _note_fault(cited: CitedSpan, notes: NoteSource) -> str:
    """The fault of a citation of a note, "" if it has none."""
    text = notes.text(cited.path)
    where = f"the answer cites {cited.path}, characters {cited.start} to {cited.end}"
    if text is None:
        return f"{where}: there is no such note"
    if cited.end > len(text):
        return f"{where}: the note has {len(text)}"
    stands = text[cited.start : cited.end]
    if cited.quote and cited.quote != stands:
        return _with_diff(f"{where}: the text there is different", diff_of(cited.quote, stands))
    if cited.sha256 and cited.sha256 != sha256_of(stands):
        return f"{where}: the sha256 does not match the text there"
    return ""


def _with_diff(reason: str, diff: str) -> str:
    return f"{reason}\n{indent(diff, '  ')}" if diff else reason
