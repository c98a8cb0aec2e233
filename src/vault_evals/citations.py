"""Layer 2: whether the passages that a case cites are where it claims, and whether an answer cites them.

A citation is looked up only in a `NoteSource`, which is either the index or the files: a live check that read
the index would find every note unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from vault_evals.agents import AgentAnswer, CitedSpan
from vault_evals.cases import CitationsExpected, ExpectedCitation, is_url, replace_citation, sha256_of
from vault_evals.notes import NoteSource, NoteText
from vault_evals.pages import PageSource, check_page
from vault_evals.results import CaseVerdict, Outcome, worst
from vault_evals.wording import closest_passage, diff_of, holds
from vault_indexer.errors import NoteError

CitationState = Literal["same", "moved", "note moved", "changed", "gone"]
"""Found where the case claims; elsewhere in the note; in another note; with different wording; not found."""

STANDING: frozenset[CitationState] = frozenset({"same", "moved"})
"""The states in which the claim is still valid: the words are in the note."""

_LEAST_TO_SEARCH_FOR = 12
"""The minimum number of characters. A shorter quote may occur in any note by chance, so it is searched only
in notes with the same file name."""


@dataclass(frozen=True, slots=True)
class Located:
    """The current position of a citation. `now` is the citation with current values (None: not found), `line`
    its line from 1 (0: unknown), `diff` the change of its words."""

    state: CitationState
    now: ExpectedCitation | None
    detail: str = ""
    diff: str = ""
    line: int = 0


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
    why = "the note is gone" if text is None else "no passage of the note is like it"
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


@dataclass(frozen=True, slots=True)
class _Check:
    verdict: CaseVerdict
    reason: str = ""


def check_citations(
    expected: CitationsExpected, answer: AgentAnswer | None, notes: NoteSource, pages: PageSource
) -> Outcome:
    """The outcome of all citations and phrases. `answer` is None for a case without a query: then only the
    citations are verified. Raises VaultIndexerError if a note or page cannot be read."""
    checks = [
        check
        for expected_citation in expected.expected_citations
        for check in _expected(expected_citation, answer, notes, pages)
    ]
    if answer is None:
        passages = [one.quote for one in expected.expected_citations]
    else:
        checks += _verify_all(answer.citations, notes, pages)
        cited = dict.fromkeys((*answer.sources, *(one.path for one in answer.citations)))
        passages = [_passage(one, notes) for one in answer.citations if not is_url(one.path)]
        passages += [pages.page(url).text for url in cited if is_url(url)]
    for phrase in expected.support_phrases:
        stands = any(holds(passage, phrase) for passage in passages)
        reason = f"support_phrases: {phrase!r} stands in no cited passage"
        checks.append(_Check("pass") if stands else _Check("fail", reason))
    passed = sum(check.verdict == "pass" for check in checks)
    reasons = tuple(check.reason for check in checks if check.reason)
    return Outcome(worst(check.verdict for check in checks), passed / len(checks), reasons)


def _expected(
    citation: ExpectedCitation, answer: AgentAnswer | None, notes: NoteSource, pages: PageSource
) -> Iterator[_Check]:
    if citation.url:
        checked = check_page(citation, pages)
        said = "" if checked.state == "same" else f"{citation.url}: {checked.state}: {checked.detail}"
        yield _Check("pass" if checked.state in STANDING else "fail", _with_diff(said, checked.diff))
        if answer is not None and answer.sources:
            reason = f"expected_citations: the answer does not cite {citation.url}"
            yield _Check("pass") if citation.url in answer.sources else _Check("fail", reason)
        return
    located = locate(citation, notes)
    said = "" if located.state == "same" else f"{citation.path}: {located.state}: {located.detail}"
    yield _Check("pass" if located.state in STANDING else "fail", _with_diff(said, located.diff))
    if answer is not None and located.now is not None:
        cites = any(_overlaps(one, located.now) for one in answer.citations)
        at = f"{located.now.path}, line {located.line}" if located.line else located.now.path
        yield (
            _Check("pass") if cites else _Check("fail", f"expected_citations: the answer does not cite {at}")
        )


def _overlaps(cited: CitedSpan, wanted: ExpectedCitation) -> bool:
    if wanted.start is None or wanted.end is None:  # the whole note
        return cited.path == wanted.path
    return cited.path == wanted.path and cited.start < wanted.end and wanted.start < cited.end


def _verify_all(citations: Sequence[CitedSpan], notes: NoteSource, pages: PageSource) -> list[_Check]:
    faults = (_page_fault(one, pages) if is_url(one.path) else _note_fault(one, notes) for one in citations)
    return [_Check("fail", fault) if fault else _Check("pass") for fault in faults]


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
        return _with_diff(f"{where}: other words stand there", diff_of(cited.quote, stands))
    if cited.sha256 and cited.sha256 != sha256_of(stands):
        return f"{where}: the sha256 is not that of the words there"
    return ""


def _passage(cited: CitedSpan, notes: NoteSource) -> str:
    """The words of a cited span from the note, not as repeated by the agent."""
    return (notes.text(cited.path) or "")[cited.start : cited.end]


def _with_diff(reason: str, diff: str) -> str:
    return f"{reason}\n{_indented(diff)}" if reason and diff else reason


def _indented(diff: str) -> str:
    return "\n".join(f"  {line}" for line in diff.splitlines())
