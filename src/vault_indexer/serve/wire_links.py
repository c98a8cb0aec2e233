"""What links where, as the JSON that goes out."""

from __future__ import annotations

from collections.abc import Sequence

from vault_indexer.model import (
    Backlink,
    LinksAnswer,
    Mention,
    MentionsAnswer,
    Orphan,
    OutgoingLink,
    RelatedNote,
    UnresolvedTarget,
)
from vault_indexer.serve.shapes import (
    BacklinkJson,
    LinksJson,
    MentionJson,
    MentionsJson,
    OrphansJson,
    OutgoingLinkJson,
    RelatedJson,
    RelatedNoteJson,
    UnresolvedJson,
)


def links_json(answer: LinksAnswer, limit: int | None = None) -> LinksJson:
    """The links of a note, at most `limit` in each list."""
    lists = (answer.outgoing, answer.backlinks, answer.unresolved, answer.diagnostics)
    return {
        "path": answer.path,
        "outgoing": [_outgoing_json(link) for link in answer.outgoing[:limit]],
        "backlinks": [_backlink_json(link) for link in answer.backlinks[:limit]],
        "unresolved": [_outgoing_json(link) for link in answer.unresolved[:limit]],
        "diagnostics": [
            {"kind": one.kind, "detail": one.detail, "line": one.line} for one in answer.diagnostics[:limit]
        ],
        "outgoing_count": len(answer.outgoing),
        "backlink_count": len(answer.backlinks),
        "unresolved_count": len(answer.unresolved),
        "more": limit is not None and any(len(one) > limit for one in lists),
    }


def unresolved_json(answer: Sequence[UnresolvedTarget], limit: int | None = None) -> UnresolvedJson:
    """The targets of links that no file has, at most `limit`; the counts are of all."""
    return {
        "links": sum(len(one.places) for one in answer),
        "targets": len(answer),
        "more": limit is not None and len(answer) > limit,
        "unresolved": [
            {
                "target": one.target,
                "count": len(one.places),
                "sources": [
                    {"path": place.path, "line": place.line, "kind": place.kind} for place in one.places
                ],
            }
            for one in answer[:limit]
        ],
    }


def orphans_json(answer: Sequence[Orphan], limit: int | None = None) -> OrphansJson:
    """The notes without links, at most `limit`; `count` is of all."""
    return {
        "orphans": [{"path": one.path, "title": one.title} for one in answer[:limit]],
        "count": len(answer),
        "more": limit is not None and len(answer) > limit,
    }


def mentions_json(answer: MentionsAnswer) -> MentionsJson:
    """The places that name a note without linking it."""
    return {
        "path": answer.path,
        "names": list(answer.names),
        "mentions": [_mention_json(one) for one in answer.mentions],
        "more": answer.more,
    }


def related_json(note: str, answer: Sequence[RelatedNote]) -> RelatedJson:
    """Notes near the one at the vault path `note`."""
    return {"note": note, "results": [_related_json(near) for near in answer]}


def _outgoing_json(link: OutgoingLink) -> OutgoingLinkJson:
    return {
        "kind": link.kind,
        "target": link.target,
        "subpath": link.subpath,
        "display": link.display,
        "line": link.line,
        "resolved": link.resolved,
        "ambiguous": link.ambiguous,
        "candidates": list(link.candidates),
        "candidate_count": link.candidate_count,
        "chunk_id": link.chunk_id,
        "target_line": link.target_line,
        "problem": link.problem,
    }


def _backlink_json(link: Backlink) -> BacklinkJson:
    return {
        "path": link.path,
        "line": link.line,
        "kind": link.kind,
        "subpath": link.subpath,
        "title": link.title,
        "snippet": link.snippet,
        "chunk_id": link.chunk_id,
        "target_chunk_id": link.target_chunk_id,
        "problem": link.problem,
    }


def _mention_json(mention: Mention) -> MentionJson:
    return {
        "path": mention.path,
        "title": mention.title,
        "line": mention.line,
        "start_pos": mention.start_pos,
        "end_pos": mention.end_pos,
        "name": mention.name,
        "snippet": mention.snippet,
        "marks": [list(mark) for mark in mention.marks],
    }


def _related_json(near: RelatedNote) -> RelatedNoteJson:
    return {
        "path": near.path,
        "title": near.title,
        "score": round(near.score, 4),
        "similarity": None if near.similarity is None else round(near.similarity, 4),
        "links": list(near.links),
        "chunk_id": near.chunk_id,
        "header_path": near.header_path,
        "shared": list(near.shared),
        "shared_count": near.shared_count,
        "why": {
            "meaning": round(near.why.meaning, 4),
            "link": round(near.why.link, 4),
            "shared": round(near.why.shared, 4),
        },
    }
