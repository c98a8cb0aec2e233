"""The link graph: what its edges carry, that its queries agree with networkx, and what they say of links that
are put into a catalog as they stand."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import combinations

import networkx as nx
import pytest
from indexed_vault import indexed_vault, write_notes

from vault_indexer.links.related import shared_links
from vault_indexer.model import Chunk, FileRow
from vault_indexer.parse import parse_note
from vault_indexer.store.catalog import CatalogReader, CatalogWriter, PreparedNote, ResolvedLink, note_rows
from vault_indexer.store.graph import Arrival, LinkGraph, LinkPlaces, LinkText, communities
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


LINKED = {
    "A.md": "Start [[B]] and [[B|bee]] and [[B#Two]].\n\n[[A]] [[pic.png]] [[Gone]]\n",
    "B.md": "# One\n\n[[A|back]] [[C]]\n\n## Two\n\nText. ^here\n",
    "C.md": "[[B|bee]] [[B|a bee]] ![[B]]\n",
    "D.md": "[[Void]] [[D]]\n",
    "E.md": "[[pic.png|a picture]]\n",
}
CHUNKS = {"A.md": [(0, 43), (6, 20), (0, 60), (44, 60)], "B.md": [(0, 25), (25, 60)]}


def put(writer: CatalogWriter, path: str, text: str, resolved: Mapping[str, str]) -> None:
    chunks = [
        Chunk(f"{path}_{n}", n, "", start, end, 1, 1, text[start:end], "none")
        for n, (start, end) in enumerate(CHUNKS.get(path, []))
    ]
    rows = note_rows(parse_note(path, text.encode()), chunks, [None] * len(chunks))
    writer.put_note(
        PreparedNote(FileRow(path, 1, 1, 0, 5, "", "note"), rows, {}, 0, 0),
        lambda target, _: ResolvedLink(target, resolved.get(target), ambiguous=False),
        "model",
    )


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CatalogReader]:
    path = tmp_path_factory.mktemp("links") / "catalog.db"
    resolved = {"pic.png": "pic.png", **{name.removesuffix(".md"): name for name in LINKED}}
    with closing(CatalogWriter(path)) as writer, writer.commit():
        for name, text in LINKED.items():
            put(writer, name, text, resolved)
        for row in (
            FileRow("pic.png", 1, 1, 0, 5, "", "linked"),
            FileRow("seen.md", 1, 1, 0, 5, "", "skipped", "too large"),
            FileRow("gone.md", 1, 1, 0, 0, "", "skipped", "cannot be read"),
        ):
            writer.put_file(row)
    with CatalogReader(path) as catalog:
        yield catalog


@pytest.fixture
def graph(catalog: CatalogReader) -> LinkGraph:
    return LinkGraph(catalog)


def test_every_link_of_other_notes_arrives_in_the_smallest_chunk_that_holds_it(graph: LinkGraph) -> None:
    expected = []
    for link, subpath, chunk in (
        ("[[B]]", "", "A.md_1"),
        ("[[B|bee]]", "", "A.md_1"),
        ("[[B#Two]]", "Two", "A.md_0"),
    ):
        start = LINKED["A.md"].index(link)
        expected.append(Arrival(1, "A.md", "A", "wikilink", subpath, start, start + len(link), 1, chunk))
    arrivals, others = graph.arrivals("B.md")[:3], graph.arrivals("B.md")[3:]
    assert arrivals == expected
    assert [one.kind for one in others] == ["wikilink", "wikilink", "embed"]
    assert {(one.source, one.chunk_id) for one in others} == {("C.md", None)}
    assert [one.source for one in graph.arrivals("A.md")] == ["B.md"]
    assert graph.arrivals("none.md") == []


def test_a_link_can_lead_to_what_stands_in_the_vault(graph: LinkGraph) -> None:
    assert sorted(graph.linkable()) == [*LINKED, "pic.png", "seen.md"]


def test_neighbours_are_linked_either_way(graph: LinkGraph) -> None:
    wanted = {
        "A.md": {"B.md", "pic.png"},
        "B.md": {"A.md", "C.md"},
        "C.md": {"B.md"},
        "E.md": {"pic.png"},
        "pic.png": {"A.md", "E.md"},
    }
    for _ in ("read", "remembered"):
        assert graph.neighbours([*LINKED, "pic.png", "none.md", "A.md"]) == wanted
        assert graph.degrees(["B.md", "D.md", "pic.png"]) == {"B.md": 2, "pic.png": 2}
    assert graph.neighbours([]) == {}


def test_texts_of_links_are_counted_in_order(graph: LinkGraph) -> None:
    for _ in ("read", "remembered"):
        assert graph.texts(["B.md", "A.md", "C.md", "pic.png"]) == {
            "A.md": (LinkText("back", 1, "B.md"),),
            "B.md": (LinkText("a bee", 1, "C.md"), LinkText("bee", 2, "A.md")),
            "pic.png": (LinkText("a picture", 1, "E.md"),),
        }


def test_pairs_of_notes_count_their_links(graph: LinkGraph) -> None:
    assert graph.note_pairs() == [
        ("A.md", "B.md", 3),
        ("B.md", "A.md", 1),
        ("B.md", "C.md", 1),
        ("C.md", "B.md", 3),
    ]


def test_notes_without_an_edge_and_links_without_a_target(graph: LinkGraph) -> None:
    assert graph.orphans() == [("D.md", "D")]
    assert graph.unresolved_links() == [("Gone", "A.md", 3, "wikilink"), ("Void", "D.md", 1, "wikilink")]


def test_what_many_paths_are_linked_with_is_asked_in_parts(graph: LinkGraph) -> None:
    paths = [f"{number}.md" for number in range(1_000)]
    assert graph.degrees([*paths, "B.md", *paths, "C.md"]) == {"B.md": 2, "C.md": 1}
    assert set(graph.edges_at([*paths, "E.md", "D.md"])) == {"E.md"}


def test_a_subpath_points_at_a_chunk_and_a_line(catalog: CatalogReader) -> None:
    places = LinkPlaces(catalog)
    for _ in ("read", "remembered"):
        two = places.find_chunk("B.md", "Two", slugs=False)
        assert (two.chunk and two.chunk.chunk_id, two.line, two.problem) == ("B.md_1", 5, None)
        assert places.find_chunk("B.md", "two", slugs=True) == two
        here = places.find_chunk("B.md", "^here", slugs=False)
        assert (here.chunk and here.chunk.chunk_id, here.line) == ("B.md_1", 7)
        missing = places.find_chunk("B.md", "Three", slugs=False)
        assert (missing.chunk, missing.line, bool(missing.problem)) == (None, None, True)
        for path, subpath in (("B.md", ""), ("pic.png", "page=3"), ("none.md", "Two")):
            assert places.find_chunk(path, subpath, slugs=False) == (None, None, None)
    assert places.find_span("B.md", "two").line == 5


def test_of_the_chunks_that_hold_a_place_the_smallest_is_meant(catalog: CatalogReader) -> None:
    places = LinkPlaces(catalog)
    held = [places.chunk_at("A.md", position) for position in (0, 5, 6, 19, 20, 42, 43, 44, 59, 60)]
    found = [chunk and chunk.chunk_id[-1] for chunk in held]
    assert found == ["0", "0", "1", "1", "0", "0", "2", "3", "3", None]
    assert places.chunk_at("none.md", 0) is None
