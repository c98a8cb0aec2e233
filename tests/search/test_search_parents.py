"""Parents and children in a search: what is ranked, what is read beside it, and what `level:` leaves."""

import pytest
from indexed_vault import OpenNotes

from vault_indexer.errors import QueryError, UsageError
from vault_indexer.model import Hit, SearchRequest
from vault_indexer.service import VaultService

PARAGRAPHS = [
    "The keeper of the lighthouse trims the wick of the lamp before dusk falls.",
    "Gulls nest under the gallery of the lighthouse, and the keeper lets them stay.",
    "A foghorn was mounted in the year of the great storm, and nobody liked its sound.",
]
NOTES = {
    "Light.md": "---\nkind: tower\n---\n# Light\n\n" + "\n\n".join(PARAGRAPHS) + "\n\nSee [[Harbour]].\n",
    "Harbour.md": "# Harbour\n\n"
    + "\n\n".join(f"Boat {n} is moored at the pier, row {n}." for n in range(6)),
    "Cited.md": (
        "---\nchunking: parent_child\n---\n# Cited\n\n## Bees\n\nA drone flies at noon. It has no sting.\n\n"
        + "The hive hums all day long, and the bees carry pollen home. " * 12
        + "\n\n## Wasps\n\nA wasp builds with paper.\n"
    ),
    "Plain.md": "---\nchunking: header_based\n---\n# Plain\n\nMarmalade is made of bitter oranges.\n",
}
OPTIONS = {
    "chunking.strategy": "hierarchical",
    "chunking.hierarchical.child_size": 20,
    "chunking.hierarchical.child_overlap": 0,
}


@pytest.fixture(scope="module")
def service(open_notes: OpenNotes) -> VaultService:
    return open_notes(NOTES, options=OPTIONS)[0]


@pytest.fixture(scope="module")
def both(open_notes: OpenNotes) -> VaultService:
    """The service of the same vault, with parents embedded, too."""
    return open_notes(NOTES, options={**OPTIONS, "chunking.hierarchical.embed_both": True})[0]


def hits(service: VaultService, query: str, **options: object) -> tuple[Hit, ...]:
    return service.search(SearchRequest(query, 50, **options)).results  # type: ignore[arg-type]  # one option


@pytest.mark.parametrize(
    "query",
    [
        "the keeper of the lighthouse",  # meaning and word
        "gallery",  # word
        "Light",  # the name of the note
        "moored",  # Light.md is a neighbour by link
        "path:Light",  # filters alone
        "[kind:tower]",
        '"the great storm"',
    ],
)
def test_parents_that_are_not_embedded_take_part_in_no_ranking(service: VaultService, query: str) -> None:
    levels = [hit.level for hit in hits(service, query) if hit.strategy == "hierarchical"]
    assert levels
    assert set(levels) == {1}


def test_parents_are_ranked_where_both_are_embedded(both: VaultService) -> None:
    found = hits(both, "the keeper of the lighthouse")
    assert {hit.level for hit in found if hit.path == "Light.md"} == {0, 1}
    assert not both.verify()


def test_the_index_agrees_with_its_catalog_where_parents_are_context(service: VaultService) -> None:
    assert not service.verify()
    stored = service.chunks("Light").chunks
    assert [chunk.level for chunk in stored][:2] == [0, 1]
    assert [chunk.embed for chunk in stored][:2] == [False, True]


def test_a_note_is_found_by_its_properties_though_its_first_chunk_is_context(service: VaultService) -> None:
    best = hits(service, "tower")[0]
    assert (best.path, best.chunk_id) == ("Light.md", "Light_chunk_1")
    assert best.why.keyword is not None
    assert set(best.why.keyword.fields) == {"properties"}


def test_parents_of_a_note_that_was_changed_stay_out_of_rankings(open_notes: OpenNotes) -> None:
    changing, _ = open_notes(NOTES, options=OPTIONS)
    (changing.vault / "Light.md").write_text(f"{NOTES['Light.md']}\nThe lens was polished.\n", "utf-8")
    found = hits(changing, "lens polished", fresh=True)
    assert {hit.level for hit in found if hit.path == "Light.md"} == {1}
    assert "lens" in found[0].content
    assert not changing.verify()


def test_a_hit_says_what_its_chunk_is(service: VaultService) -> None:
    child = hits(service, "foghorn")[0]
    assert (child.strategy, child.level, child.parent_id) == ("hierarchical", 1, "Light_chunk_0")
    cited = hits(service, "drone noon")[0]
    assert (cited.strategy, cited.level, cited.parent_id) == ("parent_child", 1, "Cited_section_1")
    assert cited.sentence_ids
    plain = hits(service, "marmalade")[0]
    found = plain.strategy, plain.level, plain.parent_id, plain.sentence_ids
    assert found == ("header_based", None, "", ())


def test_the_parent_stands_beside_its_first_child_alone(service: VaultService) -> None:
    found = [
        hit for hit in hits(service, "lighthouse keeper foghorn", expand="parent") if hit.path == "Light.md"
    ]
    assert len(found) > 1
    passages = [hit.passage for hit in found if hit.passage]
    assert [(one.kind, one.id) for one in passages] == [("parent", "Light_chunk_0")] * len(found)
    assert [bool(one.text) for one in passages] == [True] + [False] * (len(found) - 1)
    text = service.indexed_text("Light")
    first = passages[0]
    assert first.text == text[first.start_pos : first.end_pos]
    assert all(paragraph in first.text for paragraph in PARAGRAPHS)
    assert {(one.start_pos, one.end_pos) for one in passages} == {(first.start_pos, first.end_pos)}


def test_the_parent_of_a_paragraph_is_its_own_section(service: VaultService) -> None:
    passage = hits(service, "drone noon", expand="parent")[0].passage
    assert passage is not None
    assert (passage.kind, passage.id) == ("parent", "Cited_section_1")
    assert passage.text.startswith("# Cited\n\n## Bees")
    assert "pollen" in passage.text
    assert "wasp" not in passage.text


def test_a_chunk_without_parents_is_read_with_its_section(service: VaultService) -> None:
    passage = hits(service, "marmalade", expand="parent")[0].passage
    assert passage is not None
    assert (passage.kind, passage.id, passage.text[:7]) == ("parent", "", "# Plain")


def test_level_leaves_children_or_parents(service: VaultService, both: VaultService) -> None:
    paths = {hit.path for hit in hits(service, "level:child")}
    assert paths == {"Light.md", "Harbour.md", "Cited.md"}
    assert not hits(service, "lighthouse level:parent")
    assert {hit.path for hit in hits(service, "-level:child")} == {"Plain.md"}
    assert {hit.level for hit in hits(service, 'level:child "the great storm"')} == {1}
    for query, level in (("keeper level:parent", 0), ("keeper -level:parent path:Light", 1)):
        assert {hit.level for hit in hits(both, query)} == {level}
    said = both.explain("Plain", SearchRequest("keeper level:child")).reasons
    assert "it does not match the filter level:child" in said
    said = both.explain("Light", SearchRequest("keeper -level:child")).reasons
    assert "it does not match the filter -level:child" not in said


@pytest.mark.parametrize("query", ["level:grandchild", "a OR level:child", "-(level:child a)"])
def test_a_level_that_is_none_or_an_alternative_is_refused(service: VaultService, query: str) -> None:
    with pytest.raises(QueryError, match="level:"):
        hits(service, query)


def test_a_sentence_is_found_by_its_id(service: VaultService) -> None:
    cited = hits(service, "drone noon")[0]
    said = [service.sentence("Cited.md", one).text for one in cited.sentence_ids]
    assert said[-2:] == ["A drone flies at noon.", "It has no sting."]
    found = service.sentence("Cited", cited.sentence_ids[-1])
    assert (found.kind, found.id) == ("sentence", cited.sentence_ids[-1])
    assert service.indexed_text("Cited")[found.start_pos : found.end_pos] == found.text
    for wrong in ("Cited_sentence_999", "Light_sentence_0", "Cited_sentence_²", "x"):
        with pytest.raises(UsageError, match="has no sentence"):
            service.sentence("Cited.md", wrong)
