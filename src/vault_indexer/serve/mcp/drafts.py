"""What an agent needs before it writes: where text belongs in a note, and what is wrong with a draft. Nothing
is written here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from vault_indexer.answer.check import Claim, Evidence, check_claim, on_one_line
from vault_indexer.contract.marks import MAX_QUERY_BYTES
from vault_indexer.contract.parameters import Value
from vault_indexer.errors import UsageError
from vault_indexer.model import HEADER_SEPARATOR, JsonValue, NoteOutline, OutgoingLink, SearchRequest
from vault_indexer.parse import readable
from vault_indexer.parse.frontmatter import body_start
from vault_indexer.serve.api.respond import AnswerContext
from vault_indexer.serve.mcp.reading import line_at, section_of
from vault_indexer.serve.mcp.views import ToolView
from vault_indexer.service import MAX_NOTE_BYTES
from vault_indexer.text.sentences import sentences
from vault_indexer.vault import read_note

_UNNAMED_DRAFT = "Draft.md"
_LINK = re.compile(r"!?\[\[(?P<wiki>[^\[\]\n]+)\]\]|\[(?P<label>[^\[\]\n]*)\]\((?P<address>[^()\n]+)\)")
_CITATION_END = re.compile(r"[\s.,;:!?()\[\]]*$")
_HEADINGS = re.compile(r"(?:#{1,6}[ \t][^\n]*(?:\n\s*|\Z))+")
_WORD = re.compile(r"\w{3,}")
_CITED_SENTENCES = 3
_SENTENCE_CHARS = 120
_COMPARED = 8
"""Sentences of a draft that are compared with the vault. Each costs a search."""

_LEAST_CLAIM = 3
_LEAST_WORDS = 4
"""The minimum words of a sentence that is checked, and the minimum words of three letters or more of one that
is compared. Rules of thumb."""

_SAME = 0.7
"""The share of a sentence's words in a chunk from which both say the same. A rule of thumb."""

Object = dict[str, JsonValue]


def insertion_point(_view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    """The line behind which new text belongs: at the start or end of a note, or of the own text of a section.

    Raises UsageError for an unknown heading, and if the note has changed since it was indexed.
    """
    path, heading, at = (str(arguments[name]) for name in ("path", "heading", "at"))
    service = context.service
    outline = service.outline(path)
    # The file and not the index: the line must be that of the text that will be changed.
    data = read_note(service.vault, outline.path, MAX_NOTE_BYTES).data
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
    drafted = list(_drafted(text))
    return {
        "links": len(links),
        "problems": [_problem(link) for link in links if link.resolved is None or link.problem],
        "citations": [
            found
            for one in drafted
            if len(one.text.split()) >= _LEAST_CLAIM
            for target in one.cites
            for found in _citation(context, one, links, target)
        ],
        "same": list(_same(context, drafted, path)),
    }


class _DraftSentence(NamedTuple):
    line: int
    text: str
    cites: tuple[str, ...]


def _drafted(text: str) -> Iterator[_DraftSentence]:
    """The sentences of a draft without their citations: links behind the words, up to the end."""
    last: _DraftSentence | None = None
    start = body_start(text)
    for first, end in _sentences(text[start:]):
        written = text[start + first : start + end]
        bare, cites = _without_citations(written)
        if cites and last and not _WORD.search(bare):
            last = last._replace(cites=(*last.cites, *cites))  # a citation behind the full stop
            continue
        if last:
            yield last
        line = text.count("\n", 0, start + first) + 1
        last = _DraftSentence(line, on_one_line(readable(bare).text), cites)
    if last:
        yield last


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the sentences without headings, which need no blank line below."""
    for start, end in sentences(text):
        heading = _HEADINGS.match(text, start, end)
        if (start := heading.end() if heading else start) < end:
            yield start, end


def _without_citations(sentence: str) -> tuple[str, tuple[str, ...]]:
    bare, cites = sentence, list[str]()
    # From the end, so that the positions of the links before stay valid.
    for link in reversed(list(_LINK.finditer(sentence))):
        if not _CITATION_END.fullmatch(bare[link.end() :].replace("line", "").strip("0123456789- ")):
            break
        cites.insert(0, link["wiki"] or link["address"])
        bare = bare[: link.start()].rstrip(" ([") + "."
    return bare, tuple(cites)


def _problem(link: OutgoingLink) -> Object:
    named = f"{link.target}#{link.subpath}" if link.subpath else link.target
    return {"line": link.line, "link": named, "problem": link.problem or "no such note or file"}


def _citation(
    context: AnswerContext, sentence: _DraftSentence, links: Sequence[OutgoingLink], written: str
) -> Iterator[Object]:
    """What the check finds of a citation; nothing if its link leads to no note."""
    target, _, subpath = (part.strip() for part in written.partition("|")[0].partition("#"))
    link = next((one for one in links if (one.target, one.subpath) == (target, subpath)), None)
    if not link or not link.resolved or link.problem:
        return
    if not link.resolved.lower().endswith((".md", ".canvas")):
        return
    outline = context.service.outline(link.resolved)
    found = _evidence(outline, link, sentence.text)
    own: Object = {
        "line": sentence.line,
        "sentence": sentence.text[:_SENTENCE_CHARS],
        "cites": f"{link.resolved}{'#' if link.subpath else ''}{link.subpath}",
    }
    if not found:
        yield {**own, "verdict": "unsupported", "reason": "the cited place has no text"}
        return
    offered = {str(number): evidence for number, (evidence, _) in enumerate(found)}
    finding = check_claim(Claim(sentence.text, tuple(offered), found[0][0].quote), offered)
    verdict = "unsupported" if finding.verdict == "dropped" else finding.verdict
    yield {
        **own,
        "verdict": verdict,
        **({"reason": finding.reason} if finding.reason else {}),
        **({"unchecked": list(finding.unchecked)} if finding.unchecked else {}),
        **({} if verdict == "quoted" else {"nearest": {"line": found[0][1], "text": found[0][0].readable}}),
    }


def _evidence(outline: NoteOutline, link: OutgoingLink, claim: str) -> list[tuple[Evidence, int]]:
    """The sentences of the cited place with the most words of the claim, each with its line."""
    start, end = body_start(outline.text), len(outline.text)
    if link.subpath and link.target_line:
        start = line_at(outline.text, link.target_line)
        if link.subpath.lstrip().startswith("^"):
            end = outline.text.find("\n\n", start)
            start, end = max(outline.text.rfind("\n\n", 0, start), 0), end if end > 0 else len(outline.text)
        else:
            start, end = section_of(outline, link.subpath)
    wanted = _words(claim)
    found = [
        (
            Evidence(quote, readable(quote).text.strip(), "", ""),
            outline.text.count("\n", 0, start + at) + 1,
        )
        for at, stop in _sentences(outline.text[start:end])
        if _WORD.search(quote := outline.text[start + at : start + stop])
    ]
    found.sort(key=lambda one: -len(wanted & _words(one[0].readable)))
    return found[:_CITED_SENTENCES]


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
