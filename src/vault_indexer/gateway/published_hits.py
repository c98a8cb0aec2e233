"""From chunks that Milvus has found to the hits of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vault_indexer.errors import NoteError
from vault_indexer.gateway.bodies import Bodies
from vault_indexer.model import GatewayHit
from vault_indexer.parse import parse_note
from vault_indexer.search.present import ChunkHeading, Snippets
from vault_indexer.store import FoundChunk
from vault_indexer.store.milvus import VaultState
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.times import iso_time


def hits_of(
    found: Sequence[FoundChunk],
    states: Mapping[str, VaultState],
    bodies: Bodies,
    terms: Sequence[QueryTerm],
    snippets: Snippets,
) -> tuple[GatewayHit, ...]:
    """One hit a chunk, in order; scores in [0, 1] with the best at 1."""
    words = {term.word: term.weight for term in terms}
    best = max((one.score for one in found), default=0.0)
    return tuple(
        _hit(one, states[one.vault], bodies.known.get((one.vault, one.key), ""), words, snippets, best)
        for one in found
    )


def _hit(
    found: FoundChunk,
    state: VaultState,
    body: str,
    words: Mapping[str, float],
    snippets: Snippets,
    best: float,
) -> GatewayHit:
    is_canvas = found.path.lower().endswith(".canvas")
    snippet = snippets.of(body, words, () if is_canvas else _headings(body)) if body else None
    return GatewayHit(
        vault=state.name,
        keeper=state.keeper,
        path=found.path,
        kind="canvas" if is_canvas else "note",
        title=found.title,
        header_path=found.header_path,
        start_pos=found.start_pos,
        end_pos=found.end_pos,
        start_line=found.start_line,
        end_line=found.end_line,
        line=found.start_line + (body.count("\n", 0, snippet.at) if snippet else 0),
        score=found.score / best if best > 0 else 0.0,
        snippet=snippet.text if snippet else "",
        marks=snippet.marks if snippet else (),
        content=body,
        modified_time=iso_time(found.modified_ns),
        published_at=state.published_at,
    )


def _headings(body: str) -> list[ChunkHeading]:
    """The headings that divide a body. The catalog knows them; here they are parsed."""
    try:
        note = parse_note("", body.encode("utf-8", "replace"))
    except NoteError:
        return []
    if note.text != body:
        return []
    return [ChunkHeading(one.level, one.start, one.end) for one in note.headings if not one.nested]
