"""The link graph: what its edges carry, and that its queries agree with networkx."""

from collections.abc import Iterator
from itertools import combinations

import networkx as nx
import pytest
from indexed_vault import indexed_vault, write_notes

from vault_indexer.links.related import shared_links
from vault_indexer.store.graph import communities
from vault_indexer.store.snapshot import Snapshot

LONG = "Many words that fill a section of their own. " * 8
NOTES = {
    "Hub.md": "# Hub\n\n[[A]] and [[A|again]], ![[A]], [[B#Two]], [[Hub]], [[Gone]].\n",
    "A.md": f"# A\n\n{LONG}\n\n## Later\n\n{LONG} See [[B#Two]], [there](B.md#two) and ![[pic.png]].\n",
    "B.md": f"# B\n\n{LONG}\n\n## Two\n\n{LONG}\n",
    "C.md": "---\nup: '[[A]]'\n---\n![[pic.png]] [[B]]\n",
    "Lonely.md": "nothing\n",
}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    folder = tmp_path_factory.mktemp("graph")
    vault = write_notes(folder / "vault", NOTES)
    (vault / "pic.png").write_bytes(b"\x89PNG")
    with indexed_vault(vault, folder / "index") as (_, reader), reader.holder.lease() as leased:
        yield leased


def test_equal_links_are_one_edge_with_a_count_and_the_first_ones_place(snapshot: Snapshot) -> None:
    edges = snapshot.graph.edges_at(["Hub.md"])["Hub.md"]
    assert [(e.target, e.kind, e.subpath, e.count, e.line, e.display) for e in edges] == [
        ("A.md", "wikilink", "", 2, 3, None),
        ("A.md", "embed", "", 1, 3, None),
        ("B.md", "wikilink", "Two", 1, 3, None),
    ]


def test_placed_edges_know_their_chunks(snapshot: Snapshot) -> None:
    chunks = {
        (row.chunk.chunk_id): key
        for key, row in snapshot.catalog.chunks(snapshot.catalog.chunk_keys()).items()
    }
    placed = snapshot.graph.place_edges(snapshot.graph.edges_at(["A.md"])["A.md"])
    of_two = [edge for edge in placed if edge.subpath]
    assert {edge.kind for edge in of_two} == {"wikilink", "markdown"}  # `#two` as web sites write it
    for edge in of_two:
        assert (edge.source_chunk, edge.target_chunk) == (chunks["A_chunk_1"], chunks["B_chunk_1"])
    front = next(edge for edge in placed if edge.kind == "frontmatter")
    assert (front.source_chunk, front.target_chunk) == (None, None)


def test_the_exported_graph_has_all_files_and_the_attributes_of_the_edges(snapshot: Snapshot) -> None:
    graph = snapshot.graph.networkx()
    kinds = {name: data["kind"] for name, data in graph.nodes(data=True)}
    assert kinds == {**dict.fromkeys(NOTES, "note"), "pic.png": "linked"}
    (two,) = (data for _, _, data in graph.out_edges("Hub.md", data=True) if data["subpath"])
    expected = {"kind": "wikilink", "subpath": "Two", "display": None, "line": 3, "count": 1}
    assert two == expected | {"source_chunk": "Hub_chunk_0", "target_chunk": "B_chunk_1"}
    assert not list(nx.selfloop_edges(graph))


def test_shared_links_are_the_adamic_adar_index(snapshot: Snapshot) -> None:
    plain = nx.Graph(snapshot.graph.networkx())
    for path in plain:
        found = {
            other: sum(via.values())
            for other, via in shared_links(snapshot.graph, path, list(plain[path])).items()
        }
        pairs = [(path, other) for other in plain if other != path]
        expected = {other: index for _, other, index in nx.adamic_adar_index(plain, pairs) if index}
        assert found == pytest.approx(expected)


# Communities of notes: equal links give equal answers; two groups with one link between them stay two.


GROUPS = ([f"a{number}" for number in range(5)], [f"b{number}" for number in range(4)])
PAIRS = [(one, other, 1) for group in GROUPS for one, other in combinations(group, 2)] + [("a0", "b0", 1)]


def test_groups_that_link_among_themselves_are_communities() -> None:
    assert communities(PAIRS) == list(GROUPS)


def test_links_in_both_directions_count_together() -> None:
    one_way = [("a", "b", 1), ("b", "c", 1), ("c", "d", 1)]
    back = [("b", "a", 9), ("d", "c", 9)]
    assert communities([*one_way, *back]) == [["a", "b"], ["c", "d"]]
