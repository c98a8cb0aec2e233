"""What the joins between rankings, filters and vaults keep: each test has two of what one would do for."""

from pathlib import Path

import pytest
from indexed_vault import NOW, OpenNotes, indexed_vault, write_notes

from vault_indexer.config.sources import OptionValue
from vault_indexer.model import Hit, SearchRequest, Why, note_id_of
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.filters.chunk_filter import ChunkFilter
from vault_indexer.search.query.parser import parse_query
from vault_indexer.search.rank.retrieve import by_word, match_titles
from vault_indexer.service import VaultService
from vault_indexer.store.keywords import FieldWeights
from vault_indexer.text.terms import QueryTerm


def by_path(service: VaultService, query: str, limit: int = 0) -> dict[str, Hit]:
    return {hit.path: hit for hit in service.search(SearchRequest(query, limit=limit, by_note=True)).results}


def test_a_filter_that_leaves_only_the_weakest_of_many_still_finds_them(open_notes: OpenNotes) -> None:
    """A ranking of 2 chunks is checked on its first 4, then on 32; these notes are the last two of 42."""
    notes = {f"Strong {number}.md": "ember " * 30 + "blue\npale dot" for number in range(40)}
    long_line = "a line of other words, and many of them, " * 5
    weak = {f"Weak {number}.md": f"ember {long_line} blue pale dot" for number in range(2)}
    with open_notes(notes | weak)[1].holder.lease() as snapshot:
        conditions = parse_query('line:(blue "pale dot")').conditions
        chosen = ChunkFilter(snapshot, conditions, NOW, QueryDeadline(600))
        keys, _ = by_word(snapshot, [QueryTerm.plain("ember")], FieldWeights(), 2, chosen)
        rows = snapshot.catalog.notes(set(map(note_id_of, keys.tolist())))
    assert {row.path for row in rows.values()} == set(weak)


@pytest.mark.parametrize("query", ["coffee", '"coffee"', "coffee path:a"])
def test_a_long_note_leaves_room_for_other_notes(open_notes: OpenNotes, query: str) -> None:
    log = "\n\n".join(
        f"## Coffee {number}\n\n{'Coffee, black coffee, more coffee. ' * 20}" for number in range(130)
    )
    filler = "a morning with a long walk by the river and little else to tell of. " * 3
    days = {f"Day {n}.md": f"{filler}Then coffee {n * 7}. {filler}{n}" for n in range(12)}
    service, _ = open_notes({"Coffee tasting.md": log} | days)
    assert len(by_path(service, query, limit=10)) == 10


def test_a_phrase_at_two_places_leaves_both_chunks_and_none_before_between_or_behind(
    open_notes: OpenNotes,
) -> None:
    filler = "walnut boards dry in the shed for years. " * 40
    texts = [filler, "the quick marten", filler, "the quick marten", filler]
    note = "\n\n".join(f"# {number}\n\n{text}" for number, text in enumerate(texts, start=1))
    _, reader = open_notes({"Note.md": note, "Other.md": "a slow marten"})
    with reader.holder.lease() as snapshot:
        conditions = parse_query('"quick marten"').conditions
        chosen = ChunkFilter(snapshot, conditions, NOW, QueryDeadline(600))
        chosen.settle()
        found = snapshot.catalog.chunks(chosen.keys.tolist()).values()
        assert sorted(row.chunk.header_path for row in found) == ["2", "4"]


def test_accents_of_a_name_tell_words_apart_and_signs_of_file_names_do_not(open_notes: OpenNotes) -> None:
    names = ("Ma", "Mạ", "Mả", "Mo", "Red Kite", "nut-oil", "2026-01")
    _, reader = open_notes({f"{title}.md": "text" for title in names})
    titles = {
        "red-kite": {"Red Kite"},
        "nut_oil": {"nut-oil"},
        "nut oil": {"nut-oil"},
        "2026 01": set(),
        "ma": {"Ma", "Mạ", "Mả"},  # without accents: all that are written so
        "mạ": {"Mạ"},  # with some: the one with just these
        "mã": {"Ma"},  # none has these: the one without, and no word that has others
    }
    with reader.holder.lease() as snapshot:
        matches = {name: snapshot.catalog.notes(match_titles(snapshot, name)) for name in titles}
    found = {name: {row.path.removesuffix(".md") for row in rows.values()} for name, rows in matches.items()}
    assert found == titles


FERRIES = {
    "Ferry.md": "The ferry timetable of summer. [[Island]] [[Harbour]]",
    "Island.md": "Sheep and a chapel on a green hill over the sea.",
    "Harbour.md": "Two piers of granite and a lamp at the end.",
    "Boat.md": "A ferry of wood that somebody painted blue.",
}


def asked_by(folder: Path, query: str, **options: float) -> dict[str, Why]:
    """Why each note is found over the ferries, by settings of `search`."""
    vault = folder / "vault"
    if not vault.exists():
        write_notes(vault, FERRIES)
    chosen: dict[str, OptionValue] = {
        f"search.{name.replace('__', '.')}": one for name, one in options.items()
    }
    with indexed_vault(vault, folder / "index", options=chosen) as (service, _):
        return {path: hit.why for path, hit in by_path(service, query).items()}


def test_links_join_the_fusion_of_the_other_two(tmp_path: Path) -> None:
    without, linked = (asked_by(tmp_path, "ferry timetable", weights__graph=one) for one in (0.0, 1.0))
    graph = linked["Island.md"].graph
    assert graph is not None
    added = linked["Island.md"].fused - without["Island.md"].fused
    assert added == pytest.approx(1 / (60 + graph.rank))
    assert [why.fused_rank for why in linked.values() if why.fused_rank == 1] == [1]


def test_a_note_beside_a_hit_is_judged_by_all_the_evidence(tmp_path: Path) -> None:
    """Two candidates by each ranking: the island is found by its link alone."""
    why = asked_by(tmp_path, "ferry timetable", candidates=2)["Island.md"]
    assert why.graph is not None and why.vector is not None
    assert why.vector.rank == 3, "looked up, behind the last"
    assert why.evidence is not None and why.evidence > 0.0


def test_a_note_behind_those_that_are_reranked_has_its_rank_in_the_fusion(open_notes: OpenNotes) -> None:
    notes = {f"Walk {number}.md": f"A walk along the river, day {number}." for number in range(9)}
    service, reader = open_notes(notes)
    with reader.holder.lease() as snapshot:
        settings = reader.searcher.settings.model_copy(update={"rerank": 1})
        request = SearchRequest("river walk", limit=1)
        found = {
            path: reader.searcher.with_settings(settings).explain(snapshot, note, request)
            for path in notes
            if (note := snapshot.catalog.note(path))
        }
        answer = service.search(request)
    ranked = sorted(one.rank for one in found.values() if one.rank)
    assert ranked == [1, 2], "twice the limit at least"
    behind = sorted(reason for one in found.values() if not one.rank for reason in one.reasons)
    assert behind == [f"rank {rank} of the fusion; only the first 2 are reranked" for rank in range(3, 10)]
    assert found[answer.results[0].path].shown


def test_a_note_that_is_no_candidate_is_told_how_far_it_was_from_each_ranking(open_notes: OpenNotes) -> None:
    notes = {
        "Ferry.md": "The ferry timetable of the ferry.",
        "Boat.md": "One ferry among many boats of the harbour, and nothing of when they leave.",
        "Sheep.md": "Cows eat the grass of the meadow, and sheep do.",
    }
    service, reader = open_notes(notes)
    with reader.holder.lease() as snapshot:
        settings = reader.searcher.settings.model_copy(update={"candidates": 1, "rerank": 1})
        searcher = reader.searcher.with_settings(settings)
        request = SearchRequest("ferry timetable")
        told = {}
        for path in ("Boat.md", "Sheep.md"):
            note = snapshot.catalog.note(path)
            assert note is not None
            told[path] = searcher.explain(snapshot, note, request)
        first, boat = (service.explain(f"{name}.md", request).why for name in ("Ferry", "Boat"))
    assert first and first.vector and first.keyword
    assert boat and boat.vector and boat.keyword
    assert {one.rank for one in told.values()} == {None}
    links = "links: only links to the strongest notes count, and it is not one of them"
    meaning = f"the last of 1 candidates {first.vector.score:.2f}"
    assert told["Boat.md"].reasons == (
        f"meaning: its nearest chunk has cosine {boat.vector.score:.2f}, {meaning}",
        f"words: its best chunk has BM25F {boat.keyword.score:.2f}, "
        f"the last of 1 candidates {first.keyword.score:.2f}",
        links,
    )
    near, words, beside = told["Sheep.md"].reasons
    assert near.endswith(meaning)
    assert float(near.split("cosine ")[1].split(",")[0]) < boat.vector.score
    assert (words, beside) == ("words: it contains none of ferry, timetable", links)
