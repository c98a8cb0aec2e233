"""What a page shows of a vault, as the JSON that goes out."""

from __future__ import annotations

from base64 import b64encode

from vault_indexer.model import (
    ClusterMap,
    Completions,
    GraphNode,
    JudgingPool,
    NoteChunks,
    NoteGraph,
    NoteView,
    Picture,
    VaultHealth,
)
from vault_indexer.serve.shapes import (
    ClustersJson,
    CompletionsJson,
    GraphNodeJson,
    HealthJson,
    JudgeJson,
    NoteChunksJson,
    NoteGraphJson,
    NoteViewJson,
    PictureJson,
)
from vault_indexer.serve.wire import chunk_json
from vault_indexer.serve.wire_links import unresolved_json


def graph_json(graph: NoteGraph) -> NoteGraphJson:
    """The graph around some notes."""
    return {
        "centres": list(graph.centres),
        "nodes": [_node_json(node) for node in graph.nodes],
        "edges": [
            {"source": one.source, "target": one.target, "kind": one.kind, "weight": round(one.weight, 4)}
            for one in graph.edges
        ],
        "more": graph.more,
    }


def clusters_json(found: ClusterMap) -> ClustersJson:
    """The vault as clusters."""
    return {
        "by": found.by,
        "folder": found.folder,
        "notes": found.notes,
        "clusters": [
            {
                "name": one.name,
                "folder": one.folder,
                "notes": one.notes,
                "links": one.links,
                "members": [_node_json(node) for node in one.members],
            }
            for one in found.clusters
        ],
        "edges": [
            {"source": source, "target": target, "links": links} for source, target, links in found.edges
        ],
    }


def picture_json(picture: Picture) -> PictureJson:
    """A picture of the vault."""
    return {
        "path": picture.path,
        "media_type": picture.media_type,
        "bytes": len(picture.data),
        "data": b64encode(picture.data).decode("ascii"),
    }


def view_json(view: NoteView) -> NoteViewJson:
    """A note to be read."""
    return {
        "path": view.path,
        "title": view.title,
        "uri": view.uri,
        "language": view.language,
        "tags": list(view.tags),
        "aliases": list(view.aliases),
        "properties": dict(view.properties),
        "property_tree": view.property_tree,
        "headings": [{"level": one.level, "text": one.text, "line": one.line} for one in view.headings],
        "blocks": list(view.blocks),
        "first_line": view.first_line,
        "last_line": view.last_line,
        "more": view.is_cut_before or view.is_cut_after,
        "more_before": view.is_cut_before,
        "more_after": view.is_cut_after,
        "modified_time": view.modified_time,
    }


def chunks_json(found: NoteChunks) -> NoteChunksJson:
    """The chunks of a note."""
    return {
        "path": found.path,
        "strategy": found.strategy,
        "strategies": list(found.strategies),
        "chunks": [chunk_json(chunk) for chunk in found.chunks],
    }


def completions_json(found: Completions) -> CompletionsJson:
    """How a query can go on."""
    return {
        "replaces": found.replaces,
        "items": [
            {"text": one.text, "kind": one.kind, "count": one.count, "help": one.help} for one in found.items
        ],
    }


def health_json(health: VaultHealth) -> HealthJson:
    """What the index says of the vault."""
    smallest, median, largest = health.chunk_chars
    return {
        "notes": health.notes,
        "chunks": health.chunks,
        "smallest": smallest,
        "median": median,
        "largest": largest,
        "histogram": [{"below": below, "chunks": chunks} for below, chunks in health.histogram],
        "strategies": dict(health.strategies),
        "languages": dict(health.languages),
        "index_bytes": health.index_bytes,
        "orphans": health.orphans,
        "wanted_count": health.wanted_count,
        "wanted": unresolved_json(health.wanted)["unresolved"],
    }


def _node_json(node: GraphNode) -> GraphNodeJson:
    return {
        "path": node.path,
        "title": node.title,
        "kind": node.kind,
        "distance": node.distance,
        "degree": node.degree,
    }


def judge_json(pool: JudgingPool) -> JudgeJson:
    """The notes of a question to be graded."""
    return {
        "question": pool.question,
        "notes": [{"path": one.path, "title": one.title, "excerpt": one.excerpt} for one in pool.notes],
        "judged": pool.judged,
        "grades": list(pool.grades),
        "questions": list(pool.questions),
        "folder": str(pool.folder),
    }
