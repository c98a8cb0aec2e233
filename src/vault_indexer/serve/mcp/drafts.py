"""Information for an agent before it writes: the place of a text in a note, and the problems of a draft.
Nothing is written here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import NamedTuple, TypeAlias

from vault_indexer.answer.check import Claim, Evidence, Finding, check_claim, on_one_line
from vault_indexer.answer.quotable import quotable
from vault_indexer.answer.sentences import Sentence
from vault_indexer.contract.marks import MAX_QUERY_BYTES
from vault_indexer.contract.parameters import Value
from vault_indexer.errors import UnknownNoteError, UsageError
from vault_indexer.model import (
    HEADER_SEPARATOR,
    FileKind,
    JsonValue,
    Link,
    NoteOutline,
    OutgoingLink,
    SearchRequest,
    kind_of,
)
from vault_indexer.parse import readable, stem
from vault_indexer.parse.frontmatter import body_start
from vault_indexer.serve.api.respond import AnswerContext
from vault_indexer.serve.mcp.reading import section_of
from vault_indexer.serve.mcp.views import ToolView

_UNNAMED_DRAFT = "Draft.md"
_FIRST_MARK = 0xF0000
_MARK = re.compile("[\U000f0000-\U000ffffd]")
"""Characters that stand for the links of a draft while its sentences are read, one for each link."""

_CITED_BEFORE = re.compile(rf"^(?:\s|{_MARK.pattern})+")
_FOOTNOTE = re.compile(r"^\[(\^[^\]\n]+)\]:([^\n]*)", re.MULTILINE)
_FOOTNOTE_SIGN = re.compile(r"[ \t]*\[(\^[^\]\n]+)\]")
_HEADING_SIGN = re.compile(r"[ \t>]*#{1,6}[ \t]*")
_ITEM_NUMBER = re.compile(r"\d{1,9}[.)]\s+")
_NEW_BLOCK = re.compile(r"\n[ \t>]*(?:\n|\||(?:[-*+]|#{1,6})[ \t])")
_WORDS_BESIDE = """
line lines l p pp page pages zeile zeilen z seite seiten s línea líneas página páginas ligne lignes
and or also see cf source und oder sowie siehe vgl quelle y o véase fuente et ou voir
"""
_BESIDE = frozenset(_WORDS_BESIDE.split())
"""Words between two citations, or behind one."""

_SIGNAL = re.compile(r"(?:\b(?:see(?: also)?|cf|sources?|siehe|vgl|quelle|véase|fuente|voir)\b\W*)+$", re.I)
_OPENING = re.compile(r"[\s(\[{*_—–:;,.-]+[\"“‘«„*_(\[]*$")
_ATTRIBUTION = re.compile(r"\W*(?:according to|as per|per|laut|gemäß|según|selon|d['’]après)\W*", re.I)
_NEW_SENTENCE = re.compile(r"\W*\s\W*[A-ZÀ-ÖØ-Þ]")
_WORD = re.compile(r"\w{3,}")
_CITED_SENTENCES = 3
_SENTENCE_CHARS = 120
_COMPARED = 8
"""Sentences of a draft that are compared with the vault. Each costs a search."""

_LEAST_CLAIM = 3
_LEAST_WORDS = 4
"""The minimum words of a sentence without numbers that is checked, and the minimum words of three letters or
more of one that is compared. Rules of thumb."""

_SAME = 0.7
"""The share of a sentence's words in a chunk from which both say the same. A rule of thumb."""

Object = dict[str, JsonValue]
_Cited: TypeAlias = "Sequence[tuple[set[str], Sentence]]"


def insertion_point(_view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    """The line behind which new text belongs: at the start or end of a note, or of the own text of a section.

    Raises UsageError for a file that is not a note, an unknown heading, and if the note has changed since it
    was indexed.
    """
    path, heading, at = (str(arguments[name]) for name in ("path", "heading", "at"))
    service = context.service
    outline = service.outline(path)
    if kind_of(outline.path) is not FileKind.NOTE:
        raise UsageError(f"{outline.path} is no Markdown note: text belongs only in notes")
    # The file and not the index: the line must be that of the text that will be changed.
    data = service.read_file(outline.path).data
    text = data.decode("utf-8-sig", "replace")
    start, end, name = body_start(text), len(text), ""
    if heading.strip():
        if text != outline.text:
            raise UsageError(f"{outline.path} has changed since it was indexed: call again in a few seconds")
        begin, _ = section_of(outline, heading)
        own = next(one for one in outline.headings if one.start == begin)
        start = min(text.find("\n", own.start) + 1 or len(text), own.end + 1)
        end = next((one.start for one in outline.headings if one.start > begin), len(text))
        name = _heading_path(outline, begin)
    before = text[: start if at == "start" else start + len(text[start:end].rstrip())]
    line = len(before.rstrip("\n").split("\n")) if before else 0
    return {
        "path": outline.path,
        "line": line,
        "after": text.split("\n")[line - 1].rstrip("\r") if line else "",
        **({"heading": name} if name else {}),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _heading_path(outline: NoteOutline, start: int) -> str:
    above: list[tuple[int, str]] = []
    for one in outline.headings:
        if one.start > start:
            break
        above = [*(kept for kept in above if kept[0] < one.level), (one.level, one.text)]
    return HEADER_SEPARATOR.join(text for _, text in above)


def check_draft(_view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    """The links of a draft with those that lead nowhere, its citations with the verdict of the check, and the
    notes that already contain its sentences. Raises VaultIndexerError."""
    text, path = str(arguments["text"]), str(arguments["path"])
    links = context.service.draft_links(path or _UNNAMED_DRAFT, text)
    drafted = list(_drafted(text, links))
    citable = cache(partial(_citable, context))  # most citations of a draft are of a few notes
    return {
        "links": len(links),
        "problems": [_problem(link) for _, link in links if link.resolved is None or link.problem],
        "citations": [
            {"line": one.line, **_citation(citable, one.text, link, is_cited=number < len(one.cites))}
            for one in drafted
            for number, link in enumerate((*one.cites, *one.others))
            if link.resolved and not link.problem
        ],
        "same": list({str(one): one for one in _same(context, drafted, path)}.values()),
    }


class _DraftSentence(NamedTuple):
    """`cites` are the links that a sentence cites, `others` those among its words."""

    line: int
    text: str
    cites: tuple[OutgoingLink, ...]
    others: tuple[OutgoingLink, ...] = ()


def _drafted(text: str, links: Sequence[tuple[Link, OutgoingLink]]) -> Iterator[_DraftSentence]:
    """The sentences of a draft without their citations. A link behind the full stop belongs to the sentence
    before it."""

    def outgoing(marks: Iterable[str]) -> tuple[OutgoingLink, ...]:
        return tuple(links[ord(mark) - _FIRST_MARK][1] for mark in marks)

    start, end = body_start(text), 0
    marked = _marked(text, start, [link for link, _ in links])
    shown = readable(marked)
    last: _DraftSentence | None = None
    for first, stop in shown.units:
        at, written = shown.source(first), shown.text[first:stop]
        number = _ITEM_NUMBER.match(written)
        is_behind = last is not None and not number and not _NEW_BLOCK.search(marked, end, at)
        bare, cites, before = _without_citations(
            written[number.end() :] if number else written,
            may_follow=last is not None and is_behind and not last.cites,
        )
        end = shown.source(stop - 1) + 1
        if last and is_behind:
            last = last._replace(cites=(*last.cites, *outgoing(before if bare else cites)))
        if not _HEADING_SIGN.fullmatch(marked, marked.rfind("\n", 0, at) + 1, at) and (bare or not is_behind):
            if last:
                yield last
            named = _MARK.sub(lambda mark: _label(*outgoing(mark[0])), bare)
            if before:
                at = shown.source(first + len(written) - len(_CITED_BEFORE.sub("", written)))
            line = text.count("\n", 0, start) + marked.count("\n", 0, at) + 1
            last = _DraftSentence(line, on_one_line(named), outgoing(cites), outgoing(_MARK.findall(bare)))
    if last:
        yield last


def _marked(text: str, start: int, links: Sequence[Link]) -> str:
    """The text from `start` on with a mark for each link, also where the sign of a footnote refers to it."""
    parts: list[str] = []
    text = _MARK.sub(" ", text)
    for number, link in sorted(enumerate(links), key=lambda one: one[1].start):
        if link.start >= start:
            breaks = "\n" * text.count("\n", link.start, link.end)
            parts += (text[start : link.start], chr(_FIRST_MARK + number), breaks)
            start = link.end
    marked = "".join((*parts, text[start:]))
    notes = {
        note[1]: "".join(_MARK.findall(note[2])) for note in _FOOTNOTE.finditer(marked) if _is_beside(note[2])
    }
    marked = _FOOTNOTE.sub(lambda note: "" if note[1] in notes else note[0], marked)
    return _FOOTNOTE_SIGN.sub(lambda sign: f" {notes[sign[1]]}" if sign[1] in notes else sign[0], marked)


def _without_citations(sentence: str, *, may_follow: bool) -> tuple[str, list[str], list[str]]:
    """The words of a sentence of a marked draft, the marks of its citations, and those of the sentence before
    it, if it may follow one."""
    parts, marks = _MARK.split(sentence), _MARK.findall(sentence)
    last = len(marks)
    while last and _is_beside(parts[last]):
        last -= 1
    is_named = last > 0 and bool(_ATTRIBUTION.fullmatch(parts[0]))
    first = int(is_named)
    while first < last and _is_beside(parts[first]):
        first += 1
    is_named = is_named or (first > 0 and parts[first].lstrip(")]*_\"'”’»").startswith(":"))
    is_behind = first > 0 and may_follow and not is_named and bool(_NEW_SENTENCE.match(parts[first]))
    begin = first if is_named or is_behind else 0
    bare = "".join(f"{part}{mark}" for part, mark in zip(parts[begin:last], marks[begin:last], strict=True))
    bare = (bare + parts[last]).lstrip(" ,:") if begin else bare + parts[last]
    if last < len(marks):
        bare = _OPENING.sub("", _SIGNAL.sub("", bare))
        bare = f"{bare}." if re.search(r"\w", bare) or _MARK.search(bare) else ""
    return bare, (marks[:begin] if is_named else []) + marks[last:], marks[:begin] if is_behind else []


def _is_beside(text: str) -> bool:
    """Whether a text has no words except those that accompany citations."""
    return all(
        word in _BESIDE or word.lstrip("l").isdecimal() for word in re.findall(r"\w+", text.casefold())
    )


def _label(link: OutgoingLink) -> str:
    return link.display or link.target.rpartition("/")[2].removesuffix(".md") or link.subpath


def _problem(link: OutgoingLink) -> Object:
    named = f"{link.target}#{link.subpath}" if link.subpath else link.target
    return {"line": link.line, "link": named, "problem": link.problem or "no such note or file"}


def _citation(
    citable: Callable[[str, str], _Cited], sentence: str, link: OutgoingLink, *, is_cited: bool
) -> Object:
    path = str(link.resolved)
    own: Object = {
        "sentence": sentence[:_SENTENCE_CHARS],
        "cites": f"{path}{'#' if link.subpath else ''}{link.subpath}",
    }
    found: list[tuple[Evidence, int]] = []
    if not is_cited:
        reason = "the link is a word of the sentence"
    elif len(sentence.split()) < _LEAST_CLAIM and not re.search(r"\d", sentence):
        reason = f"fewer than {_LEAST_CLAIM} words cite it"
    else:
        try:
            found = _evidence(citable(path, link.subpath), sentence)
            reason = "" if found else "the cited place has no text"
        except UnknownNoteError:
            reason = "its text is not in the index"
    if not found:
        return {**own, "verdict": "not checked", "reason": reason}
    finding = _finding(sentence, [evidence for evidence, _ in found])
    verdict = "unsupported" if finding.verdict == "dropped" else finding.verdict
    alone = (one for one in found if _finding(sentence, [one[0]]).verdict == finding.verdict)
    nearest, line = next(alone, found[0])
    return {
        **own,
        "verdict": verdict,
        **({"reason": finding.reason} if finding.reason else {}),
        **({"unchecked": list(finding.unchecked)} if finding.unchecked else {}),
        **({} if verdict == "quoted" else {"nearest": {"line": line, "text": nearest.readable}}),
    }


def _finding(sentence: str, cited: Sequence[Evidence]) -> Finding:
    offered = {str(number): evidence for number, evidence in enumerate(cited)}
    return check_claim(Claim(sentence, tuple(offered), cited[0].quote), offered)


def _citable(context: AnswerContext, path: str, subpath: str) -> _Cited:
    """The rows and sentences of a cited place, each with its words. A row of a table is read with its
    header."""
    cited = context.service.citable(path, subpath)
    rows = ([row for row in quotable([one]) if not row.is_composed] or [one] for one in cited)
    return [(_words(one.readable), one) for one in chain.from_iterable(rows)]


def _evidence(cited: _Cited, claim: str) -> list[tuple[Evidence, int]]:
    """The sentences with the most words of the claim, each with its line and with the text above it: the
    names of its note, and the headings."""
    wanted = _words(claim)
    nearest = sorted(cited, key=lambda one: -len(wanted & one[0]))
    found = []
    for _, one in nearest[:_CITED_SENTENCES]:
        row = one.note.row
        above = " ".join((row.title, stem(row.path), *row.aliases, *one.headings))
        evidence = Evidence(one.quote, one.readable.strip(), above, row.language)
        found.append((evidence, one.note.text.count("\n", 0, one.start) + 1))
    return found


def _same(context: AnswerContext, drafted: list[_DraftSentence], path: str) -> Iterator[Object]:
    longest = sorted(drafted, key=lambda one: -len(one.text))[:_COMPARED]
    for sentence in sorted(longest):
        wanted = _words(sentence.text)
        if len(wanted) < _LEAST_WORDS:
            continue
        # Words only: quotes, colons and brackets of a sentence would be operators.
        plain = " ".join(re.findall(r"\w+", sentence.text)).replace(" OR ", " or ")
        # "ignore": the cut may be within a character.
        query = plain.encode()[: MAX_QUERY_BYTES // 4].decode("utf-8", "ignore")
        request = SearchRequest(query, 3, by_note=True, correct=False, stale=False, by_field=False)
        found = context.vaults.search(request, context.vault, is_cancelled=context.is_cancelled)
        for hit in found.results:
            if hit.path != path and len(wanted & _words(hit.content)) >= _SAME * len(wanted):
                yield {"line": sentence.line, "path": hit.path, "at": hit.line, "text": hit.snippet}


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
