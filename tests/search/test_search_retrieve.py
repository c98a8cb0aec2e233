"""What the joins between rankings, filters and vaults keep: each test has two of what one would do for."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from indexed_vault import indexed_vault, write_notes

from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.model import Hit, NoteReason, SearchRequest, note_id_of
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.filters.chunk_filter import ChunkFilter
from vault_indexer.search.query.parser import parse_query
from vault_indexer.search.rank.chunk_coverage import ChunkCoverage
from vault_indexer.search.rank.neighbours import neighbours_of
from vault_indexer.search.rank.retrieve import Rankings, by_word
from vault_indexer.search.rank.sources import alone, together
from vault_indexer.search.rank.titles import match_titles
from vault_indexer.search.reader import IndexReader
from vault_indexer.service import VaultService
from vault_indexer.store.keywords import FieldWeights
from vault_indexer.text.terms import QueryTerm

Opened = AbstractContextManager[tuple[VaultService, IndexReader]]
Open = Callable[[dict[str, str]], Opened]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """Opens an index of these notes."""
    numbers = itertools.count()

    def open_notes(notes: dict[str, str]) -> Opened:
        folder = tmp_path / str(next(numbers))
        return indexed_vault(write_notes(folder, notes), folder.with_suffix(".index"))

    return open_notes


def by_path(service: VaultService, query: str, limit: int = 0) -> dict[str, Hit]:
    return {hit.path: hit for hit in service.search(SearchRequest(query, limit=limit, by_note=True)).results}


def test_a_filter_that_leaves_only_the_weakest_of_many_still_finds_them(opened: Open) -> None:
    """A ranking of 2 chunks is checked on its first 4, then on 32; these notes are the last two of 42."""
    notes = {f"Strong {number}.md": "ember " * 30 + "blue\npale dot" for number in range(40)}
    long_line = "a line of other words, and many of them, " * 5
    weak = {f"Weak {number}.md": f"ember {long_line} blue pale dot" for number in range(2)}
    with opened(notes | weak) as (_, reader), reader.holder.lease() as snapshot:
        conditions = parse_query('line:(blue "pale dot")').conditions
        chosen = ChunkFilter(snapshot, conditions, datetime(2024, 6, 1, tzinfo=UTC), QueryDeadline(600))
        ranks = by_word(snapshot, [QueryTerm.plain("ember")], FieldWeights(), 2, chosen)
        rows = snapshot.catalog.notes({note_id_of(key) for key in ranks})
    assert {row.path for row in rows.values()} == set(weak)


def test_a_phrase_at_two_places_finds_both_chunks_and_none_between(opened: Open) -> None:
    filler = "walnut boards dry in the shed for years. " * 40
    parts = ["# One\n\nthe quick marten", f"# Two\n\n{filler}", "# Three\n\nthe quick marten"]
    with opened({"Note.md": "\n\n".join(parts), "Other.md": "# Other\n\na slow marten"}) as (service, _):
        found = service.search(SearchRequest('"quick marten"', limit=20)).results
    assert sorted(hit.header_path for hit in found) == ["One", "Three"]


def rankings(note_id: int, key: int) -> Rankings:
    return Rankings(
        vector={key: (1, 0.5)},
        keyword={key: (1, 2.0), key + 1: (2, 1.0)},
        graph={},
        notes={note_id: NoteReason(0.5, 0.25), note_id + 1: NoteReason(None, 0.75)},
        coverage=ChunkCoverage({key: 0.5}, 1.0),
    )


def test_what_is_joined_of_two_vaults_is_each_ones_own_again_when_taken_apart() -> None:
    first, second = rankings(note_id=3, key=(3 << 20) + 1), rankings(note_id=8, key=(8 << 20) + 2)
    joined = together([first, second])
    for number, own in enumerate((first, second)):
        part = alone(joined, number)
        assert part.notes == own.notes
        assert part.coverage.shares == own.coverage.shares
        assert set(part.vector) == set(own.vector)
        assert set(part.keyword) == set(own.keyword)


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("ma", {"Ma", "Mạ", "Mả"}),  # without accents: all that are written so
        ("mạ", {"Mạ"}),  # with some: the one with just these
        ("mã", {"Ma"}),  # none has these: the one without, and no word that has others
    ],
)
def test_accents_of_a_name_tell_words_apart(opened: Open, name: str, titles: set[str]) -> None:
    vault = {f"{title}.md": "text" for title in ("Ma", "Mạ", "Mả", "Mo")}
    with opened(vault) as (_, reader), reader.holder.lease() as snapshot:
        notes = snapshot.catalog.notes(match_titles(snapshot, name))
        assert {row.path.removesuffix(".md") for row in notes.values()} == titles


def test_a_neighbour_names_the_strongest_seed_first_and_a_hub_weighs_less(opened: Open) -> None:
    notes = {
        "A.md": "[[Both]] [[Hub]]",
        "B.md": "[[Both]] [[Hub]]",
        "Both.md": "both",
        "Hub.md": " ".join(f"[[Leaf {number}]]" for number in range(8)),
        **{f"Leaf {number}.md": "leaf" for number in range(8)},
    }
    with opened(notes) as (_, reader), reader.holder.lease() as snapshot:
        both, hub = neighbours_of(snapshot, ["B.md", "A.md"])[:2]
    assert (both.path, both.via) == ("Both.md", ("B.md", "A.md"))
    assert (hub.path, hub.via) == ("Hub.md", ("B.md", "A.md"))
    assert both.weight > 1.5 * hub.weight


def test_links_join_a_reciprocal_rank_fusion_and_keep_what_was_fused(tmp_path: Path) -> None:
    notes = {
        "Ferry.md": "The ferry timetable of summer. [[Island]] [[Harbour]]",
        "Island.md": "Sheep and a chapel.",
        "Harbour.md": "Two piers of granite.",
        "Boat.md": "A ferry of wood.",
    }
    vault = write_notes(tmp_path / "vault", notes)
    fused = {}
    for graph in (0.0, 1.0):
        options: dict[str, str | float] = {"search.fusion": "rrf", "search.weights.graph": graph}
        target = resolve_target(vault, tmp_path / "index", None, environ={}, options={**options})
        service = open_index(target, lambda _: None)
        try:
            fused[graph] = {path: hit.why for path, hit in by_path(service, "ferry timetable").items()}
        finally:
            service.close()
    linked = fused[1.0]["Island.md"]
    assert linked.graph is not None
    assert linked.fused > fused[0.0]["Island.md"].fused
    assert fused[1.0]["Ferry.md"].fused >= fused[0.0]["Ferry.md"].fused > 0


def test_another_word_for_a_thing_finds_the_note_that_uses_it_alone(opened: Open) -> None:
    notes = {f"Walk {number}.md": f"A walk along the river, number {number}." for number in range(6)}
    with opened({**notes, "Lexicon.md": "Transclusion puts one text into another."}) as (service, _):
        why = by_path(service, "embed")["Lexicon.md"].why
        assert why.keyword is not None and why.keyword.terms
        unknown = by_path(service, "zeppelin").get("Lexicon.md")
    assert unknown is None or unknown.why.keyword is None
