"""The views of a vault on a page: a note to read, the graph around notes, the whole vault, its health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from vault_indexer.contract import JsonValue
from vault_indexer.contract.marks import OMIT_EMPTY, Digits, Key
from vault_indexer.contract.requests import ClusterKind
from vault_indexer.model.answers import UnresolvedTarget
from vault_indexer.model.chunk import Chunk
from vault_indexer.model.note import BlockId, Diagnostic, Heading
from vault_indexer.system import record


@record
class GraphNode:
    """A file of a graph. `distance` is the number of links to the nearest note that was asked for, `degree`
    the number of files that this one is linked with. `kind` is "note" or "attachment"."""

    path: str
    title: str
    kind: str
    distance: int
    degree: int


@record
class GraphEdge:
    """`weight` links between two files, either way, or ("related") the score, in (0, 1], of a note near the
    other."""

    source: str
    target: str
    kind: Literal["link", "related"]
    weight: Annotated[float, Digits(4)]


@record
class NoteGraph:
    """The files around the notes `centres`, nearest first; `more`: files were left out."""

    centres: tuple[str, ...]
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    more: bool


@record
class Cluster:
    """Notes that belong together. `links` counts the links among them; `members` are the most linked ones.

    `folder` is the folder of a cluster by folder ("" for a community, and for the notes left over).
    """

    name: str
    folder: str
    notes: int
    links: int
    members: tuple[GraphNode, ...]


@record
class ClusterEdge:
    """The links between two clusters, by their places in the list."""

    source: int
    target: int
    links: int


@record
class ClusterMap:
    """A vault, or one of its folders, as clusters, the largest first. `notes` counts all notes."""

    by: ClusterKind
    folder: str
    notes: int
    clusters: tuple[Cluster, ...]
    edges: tuple[ClusterEdge, ...]


@record
class Picture:
    """A picture of the vault as it is now. `media_type` is what its content is.

    The JSON has it in base64, so that no address of the daemon ever answers with an SVG, which a browser
    could open as a page.
    """

    path: str
    media_type: str
    size: Annotated[int, Key("bytes")]
    data: bytes


@record
class NoteView:
    """A note, or a part of it, to be read as it was indexed.

    `blocks` and `property_tree` are trees of `parse.reading_view`. `first_line` and `last_line` (1-based)
    delimit the part of the file that is shown; `is_cut_before` and `is_cut_after`: the note has more before
    or after it; `more`: either of them. `canvas` is the drawing of a canvas, see
    `parse.canvas.canvas_drawing`, and `boxes` are the lines in a picture, see `documents.line_boxes`.
    """

    path: str
    title: str
    uri: str
    language: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    properties: Mapping[str, JsonValue]
    property_tree: dict[str, JsonValue]
    headings: tuple[Heading, ...]
    blocks: tuple[dict[str, JsonValue], ...]
    first_line: int
    last_line: int
    more: bool
    is_cut_before: Annotated[bool, Key("more_before")]
    is_cut_after: Annotated[bool, Key("more_after")]
    modified_time: str
    canvas: Annotated[dict[str, JsonValue], OMIT_EMPTY] = field(default_factory=dict)
    boxes: Annotated[tuple[tuple[int, ...], ...], OMIT_EMPTY] = ()


@record
class NoteChunks:
    """The chunks of a note, by the strategy that the index used or by another one; `strategies` can be
    compared without a language model."""

    path: str
    strategy: str
    strategies: tuple[str, ...]
    chunks: tuple[Chunk, ...]


@record
class Completion:
    """What the end of a query may become. `count` notes have it (0: an operator)."""

    text: str
    kind: Literal["tag", "property", "value", "folder", "operator"]
    count: int
    help: str = ""


@record
class Completions:
    """Ways to complete a query whose last part is `replaces`."""

    replaces: str
    items: tuple[Completion, ...]


@record
class SizeBucket:
    """Chunks with fewer characters than `below` (None: any), and not in a bucket before."""

    below: int | None
    chunks: int


@record
class VaultHealth:
    """What chunking does to a vault, and what its notes lack.

    `smallest`, `median` and `largest` are sizes of chunks in characters. `wanted` are the targets without a
    file that most links name, of `wanted_count`.
    """

    notes: int
    chunks: int
    smallest: int
    median: int
    largest: int
    histogram: tuple[SizeBucket, ...]
    strategies: Mapping[str, int]
    languages: Mapping[str, int]
    index_bytes: int
    orphans: int
    wanted_count: int
    wanted: tuple[UnresolvedTarget, ...]


@record
class InspectedLink:
    """A link as written, and the file where it leads (None: nowhere)."""

    kind: str
    target: str
    subpath: str
    display: str | None
    line: int
    resolved: str | None


@record
class InspectedNote:
    """What the indexer makes of one note. A chunk has the keys of all chunks and those that its
    strategy adds."""

    path: str
    title: str
    language: str
    frontmatter: Mapping[str, JsonValue]
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    headings: tuple[Heading, ...]
    links: tuple[InspectedLink, ...]
    blocks: tuple[BlockId, ...]
    chunks: tuple[Chunk, ...]
    diagnostics: tuple[Diagnostic, ...]
    fields: Annotated[Mapping[str, JsonValue], OMIT_EMPTY] = field(default_factory=dict)
