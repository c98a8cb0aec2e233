"""From the answers of the use cases to the JSON that goes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from vault_indexer.errors import UsageError, VaultIndexerError
from vault_indexer.index.inspection import Inspection
from vault_indexer.model import (
    AnswerSentence,
    AskAnswer,
    Chunk,
    Citation,
    Explanation,
    GraphReason,
    Hit,
    IndexState,
    JsonValue,
    KeywordReason,
    NoteReason,
    Passage,
    Problem,
    Progress,
    RebuildReport,
    SearchAnswer,
    SkippedFile,
    StatusReport,
    VaultSummary,
    VectorReason,
    Why,
)
from vault_indexer.serve.shapes import (
    AnswerSentenceJson,
    AskJson,
    CitationJson,
    DaemonJson,
    ErrorJson,
    ExplainJson,
    GraphJson,
    HitJson,
    IndexStateJson,
    InspectionJson,
    KeywordJson,
    NoteReasonJson,
    PassageJson,
    PauseJson,
    ProgressJson,
    RebuildJson,
    SearchJson,
    SharesJson,
    SkippedJson,
    StatusJson,
    VaultsJson,
    VectorJson,
    VerifyJson,
    WhyJson,
)

_SHARES = "shares"
"""A key of a hit that stands there only if `fields` names it."""

_CHUNK = "chunk"
"""As `shares`: the whole chunk, with what its strategy and a model say of it."""

_VAULT = "vault"
"""A key of a hit or citation that always stands there where several vaults were searched, and else never."""

NO_DAEMON: DaemonJson = {"running": False, "pid": None, "url": None}


def search_json(answer: SearchAnswer, fields: str = "") -> SearchJson:
    """One search. `fields` names the keys of each hit that are wanted, separated by commas; "" means all.

    Raises UsageError for a key that hits do not have.
    """
    wanted = _hit_keys(fields)
    strongest = max((hit.why.keyword.score for hit in answer.results if hit.why.keyword), default=0.0)
    return {
        "query": answer.query,
        "took_ms": round(answer.took_ms, 2),
        "index": _index_state_json(answer.index),
        "results": [_chosen_json(hit, wanted, strongest) for hit in answer.results],
        "notices": list(answer.notices),
        "corrections": [{"from": one.written, "to": one.searched} for one in answer.corrections],
        "verdict": answer.verdict,
        "missing_words": list(answer.missing_words),
    }


def _index_state_json(state: IndexState) -> IndexStateJson:
    return {"generation": state.generation, "seq": state.seq, "pending": state.pending}


def ask_json(answer: AskAnswer) -> AskJson:
    """One answer to a question."""
    return {
        "question": answer.question,
        "kind": answer.kind,
        "verdict": answer.verdict,
        "sentences": [answer_sentence_json(one) for one in answer.sentences],
        "dropped": [answer_sentence_json(one) for one in answer.dropped],
        "passages": [hit_json(hit) for hit in answer.passages],
        "missing_words": list(answer.missing_words),
        "model": answer.model,
        "took_ms": round(answer.took_ms, 2),
        "index": _index_state_json(answer.index),
        "notices": list(answer.notices),
        "prompt": answer.prompt,
    }


def answer_sentence_json(sentence: AnswerSentence) -> AnswerSentenceJson:
    """One sentence of an answer, with its citations."""
    return {
        "text": sentence.text,
        "citations": [_citation_json(one) for one in sentence.citations],
        "verdict": sentence.verdict,
        "reason": sentence.reason,
        "unchecked": list(sentence.unchecked),
    }


def _citation_json(citation: Citation) -> CitationJson:
    found: CitationJson = {
        "id": citation.id,
        "path": citation.path,
        "title": citation.title,
        "header_path": citation.header_path,
        "block": citation.block,
        "start_pos": citation.start_pos,
        "end_pos": citation.end_pos,
        "start_line": citation.start_line,
        "end_line": citation.end_line,
        "quote": citation.quote,
        "sha256": citation.sha256,
        "uri": citation.uri,
    }
    if citation.vault:
        found["vault"] = citation.vault
    return found


def names_key(fields: str, key: str) -> bool:
    """Whether hits that `fields` describes have the key."""
    named = _named_keys(fields)
    return not named or key in named


def _named_keys(fields: str) -> frozenset[str]:
    return frozenset(name.strip() for name in fields.split(",") if name.strip())


def _hit_keys(fields: str) -> frozenset[str] | None:
    """The keys that `fields` names; None means all."""
    wanted = _named_keys(fields)
    known = HitJson.__required_keys__ | {_SHARES, _CHUNK}
    if wanted - known - {_VAULT}:
        unknown = ", ".join(repr(name[:60]) for name in sorted(wanted - known - {_VAULT}))
        raise UsageError(f"fields: a hit has no key {unknown}; it has {', '.join(sorted(known))}")
    return wanted or None


def _chosen_json(hit: Hit, wanted: frozenset[str] | None, strongest: float) -> HitJson:
    """The hit with these keys alone, as the type of a whole hit: who asks for less knows what is left."""
    whole = hit_json(hit)
    if wanted is None:
        return whole
    chosen: dict[str, object] = {
        name: value for name, value in whole.items() if name in wanted or name == _VAULT
    }
    if _SHARES in wanted:
        chosen[_SHARES] = _shares_json(hit.why, strongest)
    if _CHUNK in wanted:
        chosen[_CHUNK] = chunk_json(hit.chunk) if hit.chunk else None
    return cast("HitJson", chosen)


def _shares_json(why: Why, strongest: float) -> SharesJson:
    words = why.keyword.score / strongest if why.keyword and strongest > 0 else 0.0
    meaning = why.vector.score if why.vector else 0.0
    links = why.graph.score if why.graph else 0.0
    return {
        "words": round(words, 2),
        "meaning": round(min(1.0, max(0.0, meaning)), 2),
        "links": round(min(1.0, links), 2),
    }


def hit_json(hit: Hit) -> HitJson:
    """One hit."""
    found: HitJson = {
        "path": hit.path,
        "kind": hit.kind,
        "title": hit.title,
        "language": hit.language,
        "header_path": hit.header_path,
        "chunk_id": hit.chunk_id,
        "chunk_index": hit.chunk_index,
        "start_pos": hit.start_pos,
        "end_pos": hit.end_pos,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "line": hit.line,
        "uri": hit.uri,
        "score": round(min(1.0, max(0.0, hit.score)), 4),
        "relevance": round(hit.relevance, 4),
        "snippet": hit.snippet,
        "marks": [list(mark) for mark in hit.marks],
        "content": hit.content,
        "modified_time": hit.modified_time,
        "tags": list(hit.tags),
        "aliases": list(hit.aliases),
        "frontmatter": dict(hit.frontmatter),
        "stale": hit.stale,
        "passage": _passage_json(hit.passage),
        "why": _why_json(hit.why),
    }
    if hit.vault:
        found["vault"] = hit.vault
    return found


def _passage_json(passage: Passage | None) -> PassageJson | None:
    if passage is None:
        return None
    return {
        "kind": passage.kind,
        "start_pos": passage.start_pos,
        "end_pos": passage.end_pos,
        "start_line": passage.start_line,
        "end_line": passage.end_line,
        "text": passage.text,
    }


def explain_json(explanation: Explanation) -> ExplainJson:
    """One note in one answer."""
    return {
        "query": explanation.query,
        "path": explanation.path,
        "rank": explanation.rank,
        "candidates": explanation.candidates,
        "shown": explanation.shown,
        "why": _why_json(explanation.why) if explanation.why else None,
        "relevance": None if explanation.relevance is None else round(explanation.relevance, 4),
        "reasons": list(explanation.reasons),
    }


def _why_json(why: Why) -> WhyJson:
    return {
        "vector": _vector_json(why.vector),
        "keyword": _keyword_json(why.keyword),
        "graph": _graph_json(why.graph),
        "recency": round(why.recency, 3),
        "fused": round(why.fused, 6),
        "fused_rank": why.fused_rank,
        "evidence": None if why.evidence is None else round(why.evidence, 6),
        "title": round(why.title, 6),
        "filters": list(why.filters),
        "note": _note_reason_json(why.note),
    }


def _vector_json(reason: VectorReason | None) -> VectorJson | None:
    return None if reason is None else {"rank": reason.rank, "score": round(reason.score, 4)}


def _keyword_json(reason: KeywordReason | None) -> KeywordJson | None:
    if reason is None:
        return None
    return {
        "rank": reason.rank,
        "score": round(reason.score, 3),
        "terms": {term: round(share, 3) for term, share in reason.terms.items()},
        "fields": {name: round(share, 3) for name, share in reason.fields.items()},
        "coverage": None if reason.coverage is None else round(reason.coverage, 4),
    }


def _graph_json(reason: GraphReason | None) -> GraphJson | None:
    if reason is None:
        return None
    return {"rank": reason.rank, "score": round(reason.score, 4), "via": list(reason.via)}


def _note_reason_json(reason: NoteReason | None) -> NoteReasonJson | None:
    if reason is None:
        return None
    cosine = None if reason.cosine is None else round(reason.cosine, 4)
    return {"cosine": cosine, "coverage": round(reason.coverage, 4)}


def rebuild_json(report: RebuildReport) -> RebuildJson:
    """What a rebuild did."""
    return {
        "generation": report.generation,
        "notes": report.notes,
        "chunks": report.chunks,
        "skipped": _skipped_json(report.skipped),
        "seconds": round(report.seconds, 2),
        "embedded": report.embedded,
        "reused": report.reused,
        "reasons": list(report.reasons),
    }


def progress_json(progress: Progress) -> ProgressJson:
    """How far a build is."""
    return {
        "stage": progress.stage,
        "notes": progress.notes,
        "total": progress.total,
        "chunks": progress.chunks,
        "seconds": round(progress.seconds, 2),
    }


def status_json(report: StatusReport, daemon: DaemonJson) -> StatusJson:
    """The state of an index, and of the daemon that keeps it."""
    return {
        "vault": report.vault,
        "index_dir": report.index_dir,
        "state": report.state,
        "generation": report.generation,
        "seq": report.seq,
        "pending": report.pending,
        "notes": report.counts.notes,
        "chunks": report.counts.chunks,
        "links": report.counts.links,
        "unresolved": report.counts.unresolved,
        "skipped": _skipped_json(report.skipped),
        "detail": report.detail,
        "watching": report.watching,
        "progress": None if report.progress is None else progress_json(report.progress),
        "paused": report.paused,
        "paused_until": report.paused_until,
        "vectors_owed": report.vectors_owed,
        "records_clicks": report.records_clicks,
        "daemon": daemon,
        "manifest": dict(report.manifest),
    }


def vaults_json(summaries: Sequence[VaultSummary], problem: str) -> VaultsJson:
    """The vaults of a daemon, and what is wrong with the configuration that names them."""
    return {
        "vaults": [
            {
                "name": one.name,
                "path": one.path,
                "state": one.state,
                "notes": one.notes,
                "pending": one.pending,
                "problem": one.problem,
            }
            for one in summaries
        ],
        "problem": problem,
    }


def pause_json(report: StatusReport) -> PauseJson:
    """Whether indexing rests, and what waits for it."""
    return {"paused": report.paused, "paused_until": report.paused_until, "pending": report.pending}


def verify_json(problems: Sequence[Problem]) -> VerifyJson:
    """What `verify` found."""
    return {
        "ok": not problems,
        "problems": [
            {"store": problem.store, "kind": problem.kind, "detail": problem.detail} for problem in problems
        ],
    }


def error_json(error: VaultIndexerError) -> ErrorJson:
    """An error meant for a person; `kind` is its class in snake_case without "Error"."""
    name = type(error).__name__.removesuffix("Error")
    kind = "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")
    return {"kind": kind or "error", "message": str(error)}


def _skipped_json(files: Sequence[SkippedFile]) -> list[SkippedJson]:
    return [{"path": file.path, "reason": file.reason} for file in files]


def inspection_json(found: Inspection) -> InspectionJson:
    """What the indexer makes of one note."""
    note = found.note
    return {
        "path": note.path,
        "title": note.title,
        "language": note.language,
        "frontmatter": dict(note.frontmatter),
        "aliases": list(note.aliases),
        "tags": list(note.tags),
        "headings": [{"level": one.level, "text": one.text, "line": one.line} for one in note.headings],
        "links": [
            {
                "kind": str(link.kind),
                "target": link.target,
                "subpath": link.subpath,
                "display": link.display,
                "line": link.line,
                "resolved": resolved,
            }
            for link, resolved in zip(note.links, found.resolved, strict=True)
        ],
        "blocks": [{"id": block.id, "line": block.line} for block in note.blocks],
        "chunks": [chunk_json(chunk) for chunk in found.chunks],
        "diagnostics": [
            {"kind": one.kind, "detail": one.detail, "line": one.line} for one in found.diagnostics
        ],
    }


def chunk_json(chunk: Chunk) -> dict[str, JsonValue]:
    """A chunk. The strategy's own extras first, so that none can take the place of what every chunk has."""
    return {
        **chunk.extra,
        "chunk_id": chunk.chunk_id,
        "chunk_index": chunk.chunk_index,
        "header_path": chunk.header_path,
        "start_pos": chunk.start_pos,
        "end_pos": chunk.end_pos,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "content": chunk.content,
        "overlap": chunk.overlap,
        "context": chunk.context,
        "preamble": chunk.preamble,
        "written_by_model": list(chunk.written_by_model),
        "word_count": chunk.word_count,
        "embed": chunk.embed,
        "strategy": chunk.strategy,
    }
