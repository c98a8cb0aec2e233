"""Each strategy as a node parser: spans of the document, linked as LlamaIndex links nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import Document, MetadataMode, NodeRelationship, RelatedNodeInfo, TextNode

from vault_indexer import VaultNodeParser
from vault_indexer.chunk import STRATEGIES, chunker_for
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.errors import UsageError
from vault_indexer.parse import parse_note

TEXT = (
    "---\ntags: [a]\n---\n# Apple\n\nIt is pruned in winter. However, it likes sun.\n\n## Pests\n\n"
    + "It gets scab. " * 40
    + "\n\n```python\ndef prune():\n    return 1\n```\n\n# Pear\n\nAs the apple.\n"
)


class Silent:
    """A language model that has nothing to say."""

    name = "test/silent"

    def complete(self, prompt: str, *, timeout_s: float, max_tokens: int | None = None) -> str:  # noqa: ARG002 - the port's signature
        return "{}"


def whole(note: object) -> list[tuple[int, int]]:
    text = getattr(note, "text", "")
    return [(getattr(note, "body_start", 0), len(text))]


def parser(strategy: str, **options: object) -> VaultNodeParser:
    if strategy == "custom":
        options["function"] = f"{__name__}:whole"
    return VaultNodeParser(strategy=strategy, options=options, llm=Silent())


def parsed(strategy: str, *documents: Document, **options: object) -> list[TextNode]:
    nodes = parser(strategy, **options).get_nodes_from_documents(documents)
    return [node for node in nodes if isinstance(node, TextNode)]


def document(text: str = TEXT, path: str = "Trees/Apple.md") -> Document:
    return Document(text=text, metadata={"path": path})


def id_of(node: TextNode, relation: NodeRelationship) -> str:
    found = node.relationships.get(relation)
    return found.node_id if isinstance(found, RelatedNodeInfo) else ""


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_every_strategy_gives_spans_of_the_document(strategy: str) -> None:
    nodes = parsed(strategy, document())
    assert nodes
    for node in nodes:
        assert node.start_char_idx is not None
        assert node.text == TEXT[node.start_char_idx : node.end_char_idx]
        span = node.metadata["start_char"], node.metadata["end_char"]
        assert span == (node.start_char_idx, node.end_char_idx)
        assert node.metadata["path"] == "Trees/Apple.md"
        assert node.metadata["strategy"] == strategy
    assert {node.metadata["header_path"] for node in nodes} <= {"Apple", "Apple > Pests", "Pear"}


def test_the_ids_are_those_of_the_index() -> None:
    note = parse_note("Trees/Apple.md", TEXT.encode())
    settings = ChunkingSettings(max_chunk_chars=200, min_chunk_chars=10)
    chunks = chunker_for(settings).chunk(note)
    nodes = parsed("header_based", document(), max_chunk_chars=200, min_chunk_chars=10)
    assert [node.node_id for node in nodes] == [chunk.chunk_id for chunk in chunks]
    assert [node.metadata["header_path"] for node in nodes] == [chunk.header_path for chunk in chunks]


def test_neighbours_and_source_are_linked() -> None:
    doc, other = document(), document("Another.", "b.md")
    nodes = parsed("paragraph", doc, other, min_chars=0, max_chars=100)
    own = [node for node in nodes if node.ref_doc_id == doc.node_id]
    assert len(own) > 3 and len(nodes) == len(own) + 1
    ids = [node.node_id for node in own]
    assert [id_of(node, NodeRelationship.NEXT) for node in own] == [*ids[1:], ""]
    assert [id_of(node, NodeRelationship.PREVIOUS) for node in own] == ["", *ids[:-1]]
    assert id_of(nodes[-1], NodeRelationship.PREVIOUS) == ""


def test_children_know_their_parent_and_the_reverse() -> None:
    nodes = parsed("hierarchical", document(), parent_size=60, child_size=20)
    parents = [node for node in nodes if node.metadata["level"] == 0]
    assert len(parents) > 1
    for parent in parents:
        children = [node for node in nodes if id_of(node, NodeRelationship.PARENT) == parent.node_id]
        assert len(children) == parent.metadata["child_count"]
        assert [child.node_id for child in parent.child_nodes or []] == [child.node_id for child in children]
        assert parent.metadata["embed"] is False
    assert id_of(parents[0], NodeRelationship.NEXT) == parents[1].node_id, "siblings are of one level"


def test_a_repeated_text_has_its_own_place() -> None:
    text = "Same words here.\n\n" * 5
    nodes = parsed("paragraph", document(text), min_chars=0)
    assert [node.start_char_idx for node in nodes] == [18 * n for n in range(5)]


def test_what_stands_around_a_chunk_is_metadata_and_only_the_headings_are_embedded() -> None:
    nodes = parsed("word", document(), chunk_size=20, chunk_overlap=5)
    second = nodes[1]
    before = TEXT[: second.start_char_idx]
    assert before.rstrip().endswith(second.metadata["overlap"].rstrip())
    embedded = second.get_content(metadata_mode=MetadataMode.EMBED)
    assert "header_path: Apple > Pests" in embedded
    assert "start_char" not in embedded and "overlap" not in embedded


def test_documents_without_a_path_do_not_share_ids() -> None:
    pages = [Document(text=f"Page {n}.", metadata={"file_path": "/tmp/book.md"}) for n in range(2)]
    nodes = parsed("none", *pages)
    assert len({node.node_id for node in nodes}) == 2
    assert {node.metadata["path"] for node in nodes} == {"/tmp/book.md"}


def test_a_byte_order_mark_counts_where_the_document_has_it() -> None:
    (node,) = parsed("none", document("\ufeffText."))
    assert (node.start_char_idx, node.end_char_idx, node.text) == (1, 6, "Text.")


def test_metadata_of_the_document_can_be_left_out() -> None:
    doc = Document(text="Text.", metadata={"path": "a.md", "author": "me"})
    given = VaultNodeParser(strategy="none").get_nodes_from_documents([doc])
    bare = VaultNodeParser(strategy="none", include_metadata=False).get_nodes_from_documents([doc])
    assert given[0].metadata["author"] == "me"
    assert "author" not in bare[0].metadata
    unlinked = VaultNodeParser(strategy="word", options={"chunk_size": 1}, include_prev_next_rel=False)
    nodes = unlinked.get_nodes_from_documents([Document(text="a b c")])
    assert all(node.next_node is None and node.prev_node is None for node in nodes)


def test_it_takes_part_in_a_pipeline(tmp_path: Path) -> None:
    pipeline = IngestionPipeline(transformations=[parser("paragraph")])
    nodes = pipeline.run(documents=[document()])
    assert [node.metadata["strategy"] for node in nodes] == ["paragraph"] * len(nodes)
    pipeline.persist(str(tmp_path))


@pytest.mark.parametrize(
    ("strategy", "options", "told"),
    [
        ("sections", {}, "unknown strategy 'sections': choose one of header_based"),
        (
            "token",
            {"max_tokens": "many"},
            'options of token: token.max_tokens = "many": a whole number from 8 to 1000000',
        ),
        ("token", {"chunk_sise": 3}, "chunk_sise"),
    ],
)
def test_a_mistake_shows_at_once(strategy: str, options: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        VaultNodeParser(strategy=strategy, options=options)


def test_a_strategy_that_asks_needs_a_model() -> None:
    with pytest.raises(UsageError, match="needs a language model"):
        VaultNodeParser(strategy="agentic")
