"""What lies around a note: rings of links, clusters of the vault, and what two notes share."""

from collections.abc import Collection, Iterable, Sequence
from math import log
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexed_vault import OpenNotes

from vault_indexer.errors import UnknownNoteError, UsageError
from vault_indexer.links.mentions import find, names
from vault_indexer.links.neighbourhood import MAX_CLUSTERS
from vault_indexer.links.note_links import excerpt
from vault_indexer.links.note_names import note_of, part_of
from vault_indexer.links.related import related_notes, shared_links
from vault_indexer.model import GraphNode, Nearness
from vault_indexer.service import VaultService
from vault_indexer.store.graph import LinkGraph

LINKS = {
    "Hub.md": "A B C D E ![[pic.png]]",
    "A.md": "B B F",
    "B.md": "F A",
    "C.md": "F G",
    "D.md": "H",
    "E.md": "",
    "F.md": "Far",
    "G.md": "",
    "H.md": "Far",
    "Far.md": "Farther",
    "Farther.md": "Farthest",
    "Farthest.md": "",
    "Lone.md": "",
}


def text_of(path: str, links: str) -> str:
    shown = " ".join(one if one.startswith("!") else f"[[{one}]]" for one in links.split())
    return f"# {Path(path).stem} title\n\n{shown}\n"


PLAIN = {"embedding.token_weights": "none"}


@pytest.fixture(scope="module")
def service(open_notes: OpenNotes) -> VaultService:
    notes = {path: text_of(path, links) for path, links in LINKS.items()} | {"pic.png": ""}
    return open_notes(notes)[0]


@pytest.mark.parametrize(
    ("depth", "limit", "rings", "more"),
    [
        (1, 300, ["Hub", "A B C D E pic.png"], False),
        (1, 7, ["Hub", "A B C D E pic.png"], False),
        (1, 6, ["Hub", "A B C D E"], True),
        (1, 1, ["Hub"], True),
        (2, 300, ["Hub", "A B C D E pic.png", "F G H"], False),
        (2, 10, ["Hub", "A B C D E pic.png", "F G H"], False),
        (2, 9, ["Hub", "A B C D E pic.png", "F G"], True),
        (2, 8, ["Hub", "A B C D E pic.png", "F"], True),
        (3, 300, ["Hub", "A B C D E pic.png", "F G H", "Far"], False),
    ],
)
def test_rings_are_as_far_as_asked_and_no_more_than_have_room(
    service: VaultService, depth: int, limit: int, rings: list[str], more: bool
) -> None:
    found = service.graph("Hub", depth=depth, limit=limit, related=False)
    assert found.centres == ("Hub.md",)
    assert [(one.path, one.distance) for one in found.nodes] == [
        (name if "." in name else f"{name}.md", distance)
        for distance, ring in enumerate(rings)
        for name in ring.split()
    ]
    assert found.more == more


def test_a_node_has_its_title_kind_and_degree_and_an_edge_its_links(service: VaultService) -> None:
    found = service.graph("Hub", related=False)
    assert found.nodes[0] == GraphNode("Hub.md", "Hub title", "note", 0, 6)
    assert found.nodes[1] == GraphNode("A.md", "A title", "note", 1, 3)
    assert found.nodes[-1] == GraphNode("pic.png", "pic.png", "attachment", 1, 1)
    assert [(one.source, one.target, one.kind, one.weight) for one in found.edges] == [
        ("A.md", "B.md", "link", 3),  # both ways together
        *((f"{name}.md", "Hub.md", "link", 1) for name in "ABCDE"),
        ("Hub.md", "pic.png", "link", 1),
    ]


def test_a_graph_is_asked_for_in_one_way_and_within_bounds(service: VaultService) -> None:
    for note, query in (("", ""), ("Hub", "hub")):
        with pytest.raises(UsageError, match="give either a note or a query, not both"):
            service.graph(note, query)
    for depth, limit in ((0, 1), (4, 1), (1, 0), (1, 301)):
        with pytest.raises(UsageError, match=f"depth {depth}, limit {limit}: must be 1 to 3 and 1"):
            service.graph("Hub", depth=depth, limit=limit)
    with pytest.raises(UnknownNoteError):
        service.graph("Nowhere at all")
    centres = service.graph("", "title", limit=2, related=False)
    assert len(centres.nodes) == 2 and centres.more


def test_notes_that_are_only_near_in_meaning_are_on_the_first_ring(open_notes: OpenNotes) -> None:
    words = "The telescope shows the rings of Saturn on a clear night."
    notes = {"Sky.md": f"{words} [[Moon]]", "Moon.md": f"{words} More.", "Star.md": f"{words} Less."}
    service, _ = open_notes(notes, options=PLAIN)
    found = service.graph("Sky", limit=2)
    assert [one.path for one in found.nodes] == ["Sky.md", "Star.md"]
    assert (found.more, [one.kind for one in found.edges]) == (True, ["related"])
    whole = service.graph("Sky")
    assert {(one.source, one.target, one.kind) for one in whole.edges} == {
        ("Moon.md", "Sky.md", "link"),
        ("Sky.md", "Star.md", "related"),
    }
    assert [(one.path, one.distance) for one in whole.nodes] == [
        ("Sky.md", 0),
        ("Star.md", 1),
        ("Moon.md", 1),
    ]
    assert service.graph("Sky", related=False).edges == whole.edges[:1]
    moon, star = service.related("Sky")
    assert [(one.closeness, one.is_near) for one in (moon, star)] == [("close", True)] * 2
    assert (moon.path, moon.links, star.path, star.links) == ("Moon.md", ("links to",), "Star.md", ())
    assert (moon.chunk_id, star.chunk_id) == ("Moon_chunk_0", "Star_chunk_0")
    for one, link in ((moon, 0.35), (star, 0.0)):
        assert one.similarity is not None and one.similarity > 0.5
        assert one.why == Nearness(one.similarity, link, 0.0)
        assert one.score == pytest.approx((one.similarity + link) / 1.85)
    assert [one.weight for one in whole.edges] == [1, star.score]


def test_communities_are_the_largest_first_and_name_their_most_linked_notes(service: VaultService) -> None:
    found = service.clusters("community")
    assert (found.by, found.folder, found.notes) == ("community", "", 13)
    assert sum(one.notes for one in found.clusters) == 13
    assert all(one.folder == "" for one in found.clusters)
    sizes = [one.notes for one in found.clusters]
    assert sizes == sorted(sizes, reverse=True)
    (alone,) = [one for one in found.clusters if one.name == "notes without links"]
    assert (alone.notes, alone.links, [one.path for one in alone.members]) == (1, 0, ["Lone.md"])
    hub = next(one for one in found.clusters if "Hub.md" in {node.path for node in one.members})
    assert hub.name.startswith("Hub title, ")
    assert hub.members[0].path == "Hub.md"
    assert [one.degree for one in hub.members[:1]] == [6]


def test_folders_of_a_folder_are_clusters_and_so_are_the_notes_in_it(open_notes: OpenNotes) -> None:
    notes = {
        "Top.md": "a/One",
        "a/One.md": "a/Two a/b/Three a/b/Three",
        "a/Two.md": "a/One",
        "a/b/Three.md": "a/b/Four",
        "a/b/Four.md": "",
        "a/b/c/Five.md": "",
        "ab/Six.md": "",
    }
    service, _ = open_notes({path: text_of(path, links) for path, links in notes.items()})
    whole = service.clusters("folder")
    assert [(one.name, one.folder, one.notes, one.links) for one in whole.clusters] == [
        ("a", "a", 5, 5),
        ("ab", "ab", 1, 0),
        ("in no folder", "", 1, 0),
    ]
    assert [(one.source, one.target, one.links) for one in whole.edges] == [(0, 2, 1)]
    for folder in ("a", "/a/"):
        inside = service.clusters("folder", folder)
        assert (inside.folder, inside.notes) == ("a", 7)
        assert [(one.name, one.folder, one.notes, one.links) for one in inside.clusters] == [
            ("b", "a/b", 3, 1),
            ("in a", "", 2, 2),
        ]
        assert [(one.source, one.target, one.links) for one in inside.edges] == [(0, 1, 2)]
    assert [node.path for node in whole.clusters[0].members] == [
        *("a/One.md", "a/Two.md", "a/b/Three.md", "a/b/Four.md", "a/b/c/Five.md")
    ]
    assert service.clusters("folder", "none").clusters == ()


def test_small_communities_are_one_and_so_are_folders_beyond_the_most(open_notes: OpenNotes) -> None:
    folders = MAX_CLUSTERS + 2
    notes = {f"f{number:02}/One.md": f"f{number:02}/Two" for number in range(folders)}
    notes |= {f"f{number:02}/Two.md": "" for number in range(folders)}
    notes |= {f"f00/{number:02}.md": "" for number in range(30)}
    service, _ = open_notes({path: text_of(path, links) for path, links in notes.items()})
    found = service.clusters("folder")
    assert len(found.clusters) == MAX_CLUSTERS
    assert [one.name for one in found.clusters[:2]] == ["f00", "f01"]
    rest = found.clusters[-1]
    assert (rest.name, rest.folder, rest.notes, rest.links) == ("other notes", "", 6, 3)
    assert (found.clusters[0].notes, len(found.clusters[0].members)) == (32, 25)
    assert [(one.name, one.notes) for one in service.clusters("community").clusters] == [
        ("other notes", 2 * folders),
        ("notes without links", 30),
    ]


def test_communities_of_equal_titles_have_different_names(open_notes: OpenNotes) -> None:
    linked = {"Index": "A B", "A": "Index B", "B": "Index"}
    notes = {
        f"{folder}/{name}.md": f"# {name}\n\n" + " ".join(f"[[{folder}/{one}]]" for one in links.split())
        for folder in ("one", "two")
        for name, links in linked.items()
    }
    service, _ = open_notes(notes)
    names = [one.name for one in service.clusters("community").clusters]
    assert len(set(names)) == len(names) == 2
    assert names[0].count(", ") == 1
    assert names[1].startswith("two/")


class Graph:
    """The links of some files."""

    def __init__(self, *pairs: Sequence[str]) -> None:
        self._linked: dict[str, set[str]] = {}
        for one, other in pairs:
            self._linked.setdefault(one, set()).add(other)
            self._linked.setdefault(other, set()).add(one)

    def degrees(self, paths: Collection[str]) -> dict[str, int]:
        return {path: len(self._linked[path]) for path in paths}

    def neighbours(self, paths: Iterable[str]) -> dict[str, frozenset[str]]:
        return {path: frozenset(self._linked[path]) for path in paths}


def test_what_few_others_link_tells_most_of_two_notes() -> None:
    graph = cast("LinkGraph", Graph("ax", "bx", "ay", "by", "cy", "az"))
    assert shared_links(graph, "a", ["x", "y", "z"]) == {
        "b": {"x": pytest.approx(1 / log(2)), "y": pytest.approx(1 / log(3))},
        "c": {"y": pytest.approx(1 / log(3))},
    }
    assert shared_links(graph, "a", ["y"]).keys() == {"b", "c"}


@pytest.mark.parametrize(("others", "tells"), [(999, True), (1000, False)])
def test_a_file_that_all_link_tells_nothing(others: int, tells: bool) -> None:
    graph = Graph(("hub", "a"), *(("hub", f"{number}") for number in range(others)))
    assert bool(shared_links(cast("LinkGraph", graph), "a", ["hub"])) == tells


def of_shared(*degrees: int) -> float:
    """What links shared with files of so many neighbours count."""
    weight = sum(1 / log(degree) for degree in degrees)
    return 0.5 * weight / (1 + weight)


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        (
            "A",
            [
                ("B", ("links to", "linked from"), 0.35 + of_shared(4, 6), ("F.md", "Hub.md")),
                ("F", ("links to",), 0.35 + of_shared(3), ("B.md",)),
                ("Hub", ("linked from",), 0.35 + of_shared(3), ("B.md",)),
                ("C", (), of_shared(4, 6), ("F.md", "Hub.md")),
                ("Far", (), of_shared(4), ("F.md",)),
                ("D", (), of_shared(6), ("Hub.md",)),
                ("E", (), of_shared(6), ("Hub.md",)),
            ],
        ),
        (
            "Far",
            [
                ("F", ("linked from",), 0.35, ()),
                ("Farther", ("links to",), 0.35, ()),
                ("H", ("linked from",), 0.35, ()),
                ("D", (), of_shared(2), ("H.md",)),
                ("Farthest", (), of_shared(2), ("Farther.md",)),
                ("A", (), of_shared(4), ("F.md",)),
                ("B", (), of_shared(4), ("F.md",)),
                ("C", (), of_shared(4), ("F.md",)),
            ],
        ),
        ("Lone", []),
    ],
)
def test_notes_without_text_are_related_by_their_links_and_those_that_they_share(
    service: VaultService, note: str, expected: list[tuple[str, tuple[str, ...], float, tuple[str, ...]]]
) -> None:
    found = service.related(note)
    assert [(one.path, one.links, one.shared) for one in found] == [
        (f"{name}.md", links, shared) for name, links, _, shared in expected
    ]
    assert [one.score for one in found] == pytest.approx([weight / 1.85 for *_, weight, _ in expected])
    assert all((one.title, one.similarity) == (f"{one.path[:-3]} title", None) for one in found)
    assert all((one.chunk_id, one.header_path) == (None, "") for one in found)
    assert all((one.closeness, one.is_near) == ("", True) for one in found)
    assert all(one.why.link == (0.35 if one.links else 0.0) for one in found)
    assert service.related(note, 2) == found[:2]


CLOSENESS = {
    "Twin": ("The telescope shows the rings of Saturn.", "close", True),
    "Moon": ("A telescope for the moon and its rings, on a cloudy day.", "somewhat close", False),
    "Joined moon": ("#sky A telescope for the moon, on a cloudy day at sea, too.", "somewhat close", True),
    "Dough": ("Knead flour and yeast for an hour.", "less close", False),
    "Linked dough": ("Knead flour and yeast for an hour, then rest. [[Sky]]", "less close", False),
}
"""The text of a note, how close it is to that of the sky, and whether it is worth showing at first."""


def test_closeness_is_said_in_words_compared_with_the_nearest_note(open_notes: OpenNotes) -> None:
    notes = {f"{name}.md": text for name, (text, *_) in CLOSENESS.items()}
    service, _ = open_notes(
        notes | {"Sky.md": "#sky The telescope shows the rings of Saturn."}, options=PLAIN
    )
    found = {one.title: (one.closeness, one.is_near) for one in service.related("Sky")}
    assert found == {name: tuple(rest) for name, (_, *rest) in CLOSENESS.items()}


def test_an_unknown_path_is_related_with_nothing(service: VaultService) -> None:
    with service.reader().holder.lease() as snapshot:
        assert related_notes(snapshot, "No.md", 10) == []
        assert related_notes(snapshot, "pic.png", 10) == []


def test_of_a_hub_two_hundred_neighbours_are_related_and_of_a_leaf_a_hundred_others(
    open_notes: OpenNotes,
) -> None:
    leaves = [f"n{number:03}" for number in range(202)]
    shared = [f"s{number}" for number in range(7)]
    notes = {"Hub.md": " ".join(leaves), **dict.fromkeys([f"{leaf}.md" for leaf in leaves], "")}
    notes |= dict.fromkeys(("P.md", "Q.md"), " ".join(shared))
    notes |= {"R.md": "s0 s1", **dict.fromkeys([f"{one}.md" for one in shared], "")}
    service, _ = open_notes({path: text_of(path, links) for path, links in notes.items()})
    with service.reader().holder.lease() as snapshot:
        of_hub = [one.path for one in related_notes(snapshot, "Hub.md", 1000) if one.links]
        of_leaf = [one.path for one in related_notes(snapshot, "n150.md", 1000)]
    assert of_hub == [f"{leaf}.md" for leaf in leaves[:200]]
    assert of_leaf == ["Hub.md", *(f"{leaf}.md" for leaf in leaves[:100])]
    near = next(one for one in service.related("P") if one.path == "Q.md")
    assert (near.shared, near.shared_count) == (("s2.md", "s3.md", "s4.md", "s5.md", "s6.md"), 7)
    assert near.why.shared == pytest.approx(of_shared(2, 2, 2, 2, 2, 3, 3))


@given(
    st.text(st.sampled_from("ab \t\n\r日"), max_size=40),
    st.text(st.sampled_from("xy z"), min_size=1, max_size=8),
    st.text(st.sampled_from("ab \t\n\r日"), max_size=40),
)
def test_an_excerpt_is_the_line_of_the_place(before: str, place: str, after: str) -> None:
    text = before + place + after
    shown, (start, end) = excerpt(text, len(before), len(before) + len(place))
    lines = (before.replace("\r", "\n").rpartition("\n")[2], after.replace("\r", "\n").partition("\n")[0])
    assert shown == f"{lines[0].lstrip()}{place}{lines[1]}".rstrip().replace("\t", " ")
    assert shown[start:end] == place.rstrip() or shown[start:end] == place


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("a" * 78, "b" * 78, f"{'a' * 78}HERE{'b' * 78}"),
        ("a" * 79, "b" * 78, f"…{'a' * 78}HERE{'b' * 78}"),
        ("a" * 78, "b" * 79, f"{'a' * 78}HERE{'b' * 78}…"),
        ("a" * 20, "b" * 200, f"{'a' * 20}HERE{'b' * 136}…"),
        ("a" * 200, "", f"…{'a' * 78}HERE"),
        ("a" * 10 + " " + "a" * 77, "b" * 100, f"…{'a' * 77}HERE{'b' * 79}…"),
        ("a" * 20 + " " + "a" * 58, "b" * 100, f"…{'a' * 58}HERE{'b' * 98}…"),
        ("a" * 78, "b" * 77 + " bb", f"{'a' * 78}HERE{'b' * 77}…"),
        ("a" * 78, "b" * 50 + " " + "b" * 60, f"{'a' * 78}HERE{'b' * 50} {'b' * 27}…"),
    ],
)
def test_of_a_long_line_so_much_is_shown_around_the_place(before: str, after: str, shown: str) -> None:
    text = f"{before}HERE{after}"
    found, (start, end) = excerpt(text, len(before), len(before) + 4)
    assert found == shown
    assert found[start:end] == "HERE"


def test_a_place_longer_than_the_excerpt_is_shown_whole() -> None:
    text = f"{'a' * 50} {'x' * 170} {'b' * 50}"
    assert excerpt(text, 51, 221) == (f"…{'x' * 170}…", (1, 171))


@pytest.mark.parametrize(
    ("text", "start", "end", "found"),
    [
        ("bread", 0, 5, [(0, 5)]),
        ("bread", 0, 4, []),
        ("bread", 1, 5, []),
        ("a bread b", 2, 7, [(2, 7)]),
        ("xbread", 1, 6, []),
        ("breads", 0, 5, []),
        ("éé bread, ßß bread", 3, 18, [(3, 8), (13, 18)]),
        ("^bread _bread -bread", 0, 20, [(15, 20)]),
    ],
)
def test_a_name_is_found_as_a_whole_word_within_the_span(
    text: str, start: int, end: int, found: list[tuple[int, int]]
) -> None:
    assert [(one.start, one.end) for one in find(text, names(["bread"]), start, end)] == found


@pytest.fixture(scope="module")
def crowded(open_notes: OpenNotes) -> VaultService:
    """A vault of many notes of one name, many links to one note, and links of every kind."""
    notes = {f"t{number:02}/Twin.md": "# Twin\n" for number in range(12)}
    notes |= {
        "Many.md": "\n".join(f"Line {number} to [[Target]]." for number in range(501)),
        "Target.md": "# Target\n\n## Part\n\nIn it. ^block\n\n### Deep\n\nDeeper.\n\n## Next\n\nAfter.\n",
        "From.md": (
            "# From\n\n[[Twin]] and [[Gone]] and [[gone ]] and [[GONE]]\n\n"
            "![[Target#Part|shown]] [web](Target.md#next) [[Target#No]] [[Target#^block]]\n\n[[Lost]]\n"
        ),
        "Other.md": "[[Lost]] [[lost]]\n",
        " Blank.md": "x",
        "deep/Same name.md": "x",
    }
    return open_notes(notes)[0]


def test_of_an_ambiguous_link_ten_files_are_named(crowded: VaultService) -> None:
    twin = crowded.links("From").outgoing[0]
    assert (twin.resolved, twin.ambiguous, twin.candidate_count) == ("t00/Twin.md", True, 12)
    assert twin.candidates == tuple(f"t{number:02}/Twin.md" for number in range(10))
    (told,) = [one for one in crowded.links("From").diagnostics if one.kind == "ambiguous"]
    assert (told.detail, told.line) == ("Twin: one of 12 files; t00/Twin.md is used", 3)


def test_a_link_says_all_that_is_known_of_it(crowded: VaultService) -> None:
    found = crowded.links("From")
    assert (found.path, found.outgoing_count, found.backlink_count, found.unresolved_count) == (
        *("From.md", 9, 0),
        4,
    )
    assert [(one.target, one.resolved, one.ambiguous) for one in found.outgoing[1:4]] == [
        ("Gone", None, False),
        ("gone", None, False),
        ("GONE", None, False),
    ]
    embed, web, missing, block = found.outgoing[4:8]
    assert (embed.kind, embed.subpath, embed.display, embed.line) == ("embed", "Part", "shown", 5)
    assert (embed.target_line, embed.problem, web.kind, web.target_line) == (3, None, "markdown", 11)
    assert (missing.problem, missing.target_line, block.target_line) == ("no heading No", None, 5)
    assert [one.target for one in found.unresolved] == ["Gone", "gone", "GONE", "Lost"]
    assert [(one.kind, one.detail, one.line) for one in found.diagnostics if one.kind != "ambiguous"] == [
        *(("unresolved", f"{name}: no such file", 3) for name in ("Gone", "gone", "GONE")),
        ("subpath", "Target.md: no heading No", 5),
        ("unresolved", "Lost: no such file", 7),
    ]


def test_five_hundred_links_to_a_note_are_shown_with_their_lines(crowded: VaultService) -> None:
    found = [one for one in crowded.links("Target").backlinks if one.path == "Many.md"]
    assert len(found) == 501
    backlinks = crowded.links("Target").backlinks
    assert [bool(one.snippet) for one in backlinks] == [True] * 500 + [False] * (len(backlinks) - 500)
    first = backlinks[0]
    assert (first.path, first.title) == ("From.md", "From")
    assert [one.problem for one in backlinks[:4]] == [None, None, "no heading No", None]
    assert backlinks[4].snippet == "Line 0 to [[Target]]."


def test_links_that_lead_nowhere_are_grouped_by_what_they_name(crowded: VaultService) -> None:
    found = crowded.unresolved_links()
    assert [(one.target, one.count) for one in found] == [("GONE", 3), ("Lost", 3)]
    assert [(place.path, place.line) for place in found[1].places] == [
        ("From.md", 7),
        ("Other.md", 1),
        ("Other.md", 1),
    ]


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ("Target", "Target.md"),
        ("Target.md", "Target.md"),
        ("target", "Target.md"),
        ("./Target", "Target.md"),
        ("  Target ", "Target.md"),
        (" Blank", " Blank.md"),
        ("same NAME", "deep/Same name.md"),
        ("deep/same name.md", "deep/Same name.md"),
        ("t03/twin", "t03/Twin.md"),
        ("{vault}/Target.md", "Target.md"),
        ("{vault}/deep/../Target", "Target.md"),
    ],
)
def test_a_note_is_found_by_its_path_or_its_name(crowded: VaultService, named: str, path: str) -> None:
    assert crowded.links(named.format(vault=crowded.vault)).path == path


@pytest.mark.parametrize(
    ("named", "error", "said"),
    [
        (
            "twin",
            UsageError,
            "note 'twin' is ambiguous: " + ", ".join(f"t{number:02}/Twin.md" for number in range(5)),
        ),
        ("Tarjet", UnknownNoteError, "no such note in the index: 'Tarjet'; did you mean Target.md?"),
        ("Zebra", UnknownNoteError, "no such note in the index: 'Zebra'"),
        ("{vault}/target", UnknownNoteError, "no such note in the index: {named!r}; did you mean Target.md?"),
        pytest.param(
            "/no/such/folder",
            UnknownNoteError,
            "'/no/such/folder' is outside the vault",
            marks=pytest.mark.posix("an absolute path without a drive"),
        ),
    ],
)
def test_a_name_that_means_no_note_is_refused(
    crowded: VaultService, named: str, error: type[UsageError], said: str
) -> None:
    named = named.format(vault=crowded.vault)
    with pytest.raises(error) as refused:
        crowded.links(named)
    assert str(refused.value) == said.format(named=named)


@pytest.mark.parametrize(
    ("part", "first", "last"),
    [
        ("", "# Target", "After."),
        ("Part", "## Part", "Deeper."),
        ("^block", "In it. ^block", "In it. ^block"),
        ("Deep", "### Deep", "Deeper."),
        ("Next", "## Next", "After."),
    ],
)
def test_a_part_of_a_note_is_a_heading_with_all_below_it_or_a_block(
    crowded: VaultService, part: str, first: str, last: str
) -> None:
    with crowded.reader().holder.lease() as snapshot:
        row = note_of(snapshot, crowded.vault, "Target")
        text = snapshot.catalog.text(row.note_id)
        start, end = part_of(snapshot, row, text, part)
        with pytest.raises(UnknownNoteError, match=r"^Target\.md: no heading Nothing$"):
            part_of(snapshot, row, text, "Nothing")
    lines = text[start:end].strip().splitlines()
    assert (lines[0], lines[-1]) == (first, last)
