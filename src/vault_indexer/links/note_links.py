"""Returns the links of one note, and the problems with the links of the vault."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from vault_indexer.model import (
    Backlink,
    Diagnostic,
    JsonValue,
    LinkKind,
    LinkPlace,
    LinkRow,
    LinksAnswer,
    Note,
    Orphan,
    OutgoingLink,
    UnresolvedTarget,
)
from vault_indexer.parse import Anchors, VaultPaths, link_key, resolve
from vault_indexer.parse.resolve import normal, target_name
from vault_indexer.store import Snapshot
from vault_indexer.store.graph import Arrival, LinkPlaces

# Excerpts: a place in a note on one line, as written.


_SIZE = 160
_ELLIPSIS = "…"
_SPACE = re.compile(r"\s")
_LINE_END = re.compile(r"[\r\n]")


class Excerpt(NamedTuple):
    """A text, and the span in it of the place that it shows."""

    text: str
    mark: tuple[int, int]


def excerpt(text: str, start: int, end: int) -> Excerpt:
    """Returns the line of `text[start:end]` without indentation; of a long one about 160 characters."""
    first = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    stop = _LINE_END.search(text, end)
    last = stop.start() if stop else len(text)
    while first < start and text[first].isspace():
        first += 1
    left, right = (first, last) if last - first <= _SIZE else _window(text, (first, start, end, last))
    before = _ELLIPSIS if left > first else ""
    after = _ELLIPSIS if right < last else ""
    shown = _SPACE.sub(" ", text[left:right].rstrip())
    at = len(before) + start - left
    return Excerpt(before + shown + after, (at, at + end - start))


def _window(text: str, line: tuple[int, int, int, int]) -> tuple[int, int]:
    """Returns the part of a long line to show. `line` contains the start of the line, the start and end of
    the place in it, and the end of the line."""
    first, start, end, last = line
    left = max(first, start - max(0, _SIZE - (end - start)) // 2)
    if left > first:
        left = _word_start(text, left, start)
    right = min(last, max(end, left + _SIZE))
    return left, right if right == last else _word_end(text, end, right)


def _word_start(text: str, offset: int, limit: int) -> int:
    """Returns the first start of a word after `offset`, up to `limit`, or `offset`."""
    space = text.find(" ", offset, min(limit, offset + 20))
    return offset if space < 0 else space + 1


def _word_end(text: str, limit: int, offset: int) -> int:
    """Returns the last end of a word before `offset`, down to `limit`, or `offset`."""
    space = text.rfind(" ", max(limit, offset - 20), offset)
    return offset if space < 0 else space


_CANDIDATES = 10
"""Limit of candidate files named for an ambiguous link."""

_SNIPPETS = 500
"""Limit of backlinks with a snippet, because each snippet requires the text of its note."""


def links_of(snapshot: Snapshot, path: str) -> LinksAnswer:
    """Returns the links of the note, and the links of other notes to it."""
    places = LinkPlaces(snapshot.catalog)
    rows = snapshot.catalog.links_from(path)
    candidates = _candidates(snapshot, path, rows)
    outgoing = tuple(_outgoing(row, places, candidates.get(row.target, ())) for row in rows)
    arrivals = snapshot.graph.arrivals(path)
    backlinks = tuple(
        _backlink(snapshot, path, arrival, places, shown=number < _SNIPPETS)
        for number, arrival in enumerate(arrivals)
    )
    unresolved = tuple(link for link in outgoing if link.resolved is None)
    return LinksAnswer(
        path,
        outgoing,
        backlinks,
        unresolved,
        tuple(_diagnostics(outgoing)),
        outgoing_count=len(outgoing),
        backlink_count=len(backlinks),
        unresolved_count=len(unresolved),
    )


def unresolved_links(snapshot: Snapshot) -> tuple[UnresolvedTarget, ...]:
    """Returns the link targets without a file, the most frequent first, with their spellings merged."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    places: dict[str, list[LinkPlace]] = defaultdict(list)
    for target, path, line, kind in snapshot.graph.unresolved_links():
        key = normal(target_name(target))
        spellings[key][target] += 1
        places[key].append(LinkPlace(path, line, kind))
    ordered = sorted(places, key=lambda key: (-len(places[key]), key))
    return tuple(
        UnresolvedTarget(
            min(spellings[key], key=lambda target: (-spellings[key][target], target)),
            len(places[key]),
            tuple(places[key]),
        )
        for key in ordered
    )


def links_of_draft(snapshot: Snapshot, note: Note) -> tuple[OutgoingLink, ...]:
    """Returns the links of a note that is not in the vault yet, as they would resolve there."""
    places = LinkPlaces(snapshot.catalog)
    paths = VaultPaths(file.path for file in snapshot.catalog.files() if file.state != "skipped")
    found = []
    for link in note.links:
        target = resolve(link.target, note.path, paths)
        is_own = not target_name(link.target)
        place = None
        if link.subpath and (is_own or target.path):
            headings = Anchors(note.headings, note.blocks) if is_own else None
            place = (
                headings.find(link.subpath, slugs=True)
                if headings
                else places.find_span(str(target.path), link.subpath)
            )
        found.append(
            OutgoingLink(
                kind=link.kind,
                target=link.target,
                subpath=link.subpath,
                display=link.display,
                line=link.line,
                resolved=target.path,
                ambiguous=bool(target.ambiguous),
                candidates=target.ambiguous[:_CANDIDATES],
                candidate_count=len(target.ambiguous),
                target_line=place.line if place else None,
                problem=place.problem if place else None,
            )
        )
    return tuple(found)


def orphans(snapshot: Snapshot) -> tuple[Orphan, ...]:
    """Returns the notes without any link to a file or from a note, ordered by path."""
    return tuple(Orphan(path, title) for path, title in snapshot.graph.orphans())


def _candidates(snapshot: Snapshot, source: str, rows: Sequence[LinkRow]) -> Mapping[str, tuple[str, ...]]:
    """Returns for the target of each ambiguous link its candidate files, the chosen one first."""
    ambiguous = {row.target: row for row in rows if row.ambiguous}
    if not ambiguous:
        return {}
    keys = {row.key for row in ambiguous.values()}
    paths = VaultPaths(path for path in snapshot.graph.linkable() if link_key(path) in keys)
    candidates: dict[str, tuple[str, ...]] = {}
    for target, row in ambiguous.items():
        others = [path for path in resolve(target, source, paths).ambiguous if path != row.resolved]
        candidates[target] = (*([row.resolved] if row.resolved else []), *others)
    return candidates


def mark_missing_parts(snapshot: Snapshot, blocks: Iterable[JsonValue]) -> None:
    """Adds to links and embeds of a reading view the `problem` of a part that their note does not have."""
    places, nodes = LinkPlaces(snapshot.catalog), list(blocks)
    while nodes:
        node = nodes.pop()
        if not isinstance(node, dict):
            continue
        for key in ("c", "title"):
            nodes += inside if isinstance(inside := node.get(key), list) else ()
        path, subpath = node.get("path"), node.get("subpath")
        problem = places.find_chunk(str(path), str(subpath), slugs=True).problem if path and subpath else None
        if problem:
            node["problem"] = problem


def _outgoing(row: LinkRow, places: LinkPlaces, candidates: Sequence[str]) -> OutgoingLink:
    pointed = places.find_chunk(row.resolved or "", row.subpath, slugs=row.kind == LinkKind.MARKDOWN)
    return OutgoingLink(
        kind=row.kind,
        target=row.target,
        subpath=row.subpath,
        display=row.display,
        line=row.line,
        resolved=row.resolved,
        ambiguous=row.ambiguous,
        candidates=tuple(candidates[:_CANDIDATES]),
        candidate_count=len(candidates),
        chunk_id=pointed.chunk and pointed.chunk.chunk_id,
        target_line=pointed.line,
        problem=pointed.problem,
    )


def _backlink(snapshot: Snapshot, path: str, link: Arrival, places: LinkPlaces, *, shown: bool) -> Backlink:
    pointed = places.find_chunk(path, link.subpath, slugs=link.kind == LinkKind.MARKDOWN)
    text = snapshot.catalog.text(link.note_id) if shown else ""
    return Backlink(
        path=link.source,
        line=link.line,
        kind=link.kind,
        subpath=link.subpath,
        title=link.title,
        snippet=excerpt(text, link.start, link.end).text if shown else "",
        chunk_id=link.chunk_id,
        target_chunk_id=pointed.chunk and pointed.chunk.chunk_id,
        problem=pointed.problem,
    )


def _diagnostics(links: Sequence[OutgoingLink]) -> Iterator[Diagnostic]:
    """Yields the problems that the author of the note may want to fix, in the order of the links."""
    for link in links:
        if link.resolved is None:
            yield Diagnostic("unresolved", f"{link.target}: no such file", link.line)
        elif link.ambiguous:
            detail = f"{link.target}: one of {link.candidate_count} files; {link.resolved} is used"
            yield Diagnostic("ambiguous", detail, link.line)
        if link.problem:
            yield Diagnostic("subpath", f"{link.resolved}: {link.problem}", link.line)
