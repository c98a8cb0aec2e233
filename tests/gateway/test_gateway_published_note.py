"""What is published of a vault comes back as it was, and damaged bytes are refused in one line."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notes_here import NotesHere
from vault_at_work import Place, opened, place

from vault_gateway.candidates import snapshot_of_notes
from vault_gateway.publication import published_notes
from vault_gateway.published_note import PublishedNote, ReceivedNote, pack_note, unpack_note
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService
from vault_indexer.store import IndexDir, VaultStatistics
from vault_indexer.store.keywords import Vocabulary

NOTES = {
    "Garden/Compost.md": "---\ntags: [area/garden]\naliases: [Earth]\n---\n# Compost\n\nDry leaves rot. "
    "[[Beans]]\n",
    "Beans.md": "# Beans\n\nBeans climb a pole of hazel.\n\n> - [ ] pick them ^task\n\n## Soil\n\n"
    "They like compost.\n",
    "Sky/土星.md": "# 土星\n\n土星的光环由冰块和岩石组成。\n",
    "Sky/Straße.md": "# Straße\n\nDie Straße führt zum Fahrradschlauch.\n",
    "Long.md": "# Long\n\n"
    + "".join(f"## Part {n}\n\n{'The kiln burns hazel. ' * 60}\n\n" for n in range(6)),
    "Empty.md": "",
}
QUERIES = [
    *("compost", "beans hazel", "土星", "strasse", "schlauch", "kiln part 3", "compst"),
    '"dry leaves" leaves',
    "x",
]


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return place(tmp_path_factory.mktemp("vault"), NOTES)


@pytest.fixture(scope="module")
def service(vault: Place) -> Iterator[VaultService]:
    with opened(vault) as one:
        yield one


@pytest.fixture(scope="module")
def published(service: VaultService) -> list[PublishedNote]:
    reader = service.reader()
    with reader.holder.lease() as snapshot:
        return list(published_notes(snapshot.catalog, reader.model, snapshot.catalog.note_ids()))


@pytest.fixture(scope="module")
def statistics(vault: Place, service: VaultService) -> VaultStatistics:
    generation = IndexDir(vault.index_dir).current()
    assert generation is not None
    model = service.reader().searcher.embedder.model
    return VaultStatistics.from_bytes(NotesHere(generation).statistics("vault", model.key, model.dimension))


def received(service: VaultService, notes: list[PublishedNote]) -> list[ReceivedNote]:
    dimension = service.reader().searcher.embedder.model.dimension
    return [unpack_note(one.note_id, pack_note(one, with_text=True), dimension) for one in notes]


@pytest.mark.parametrize("query", QUERIES)
def test_a_search_of_all_notes_as_they_come_back_is_that_of_the_vault(
    service: VaultService, published: list[PublishedNote], statistics: VaultStatistics, query: str
) -> None:
    reader = service.reader()
    dimension = reader.searcher.embedder.model.dimension
    request = SearchRequest(query, stale=False)
    chosen = snapshot_of_notes(received(service, published), statistics, dimension)
    with closing(chosen.catalog), reader.holder.lease() as whole:
        expected = reader.searcher.search(whole, request)
        found = reader.searcher.search(chosen, request)
    for mine, theirs in zip(found.hits, expected.hits, strict=True):
        assert (mine.path, mine.chunk_id, mine.snippet) == (theirs.path, theirs.chunk_id, theirs.snippet)
        assert mine.score == pytest.approx(theirs.score, abs=1e-3)
        assert mine.relevance == pytest.approx(theirs.relevance, abs=1e-3)
    assert (found.verdict, found.corrections) == (expected.verdict, expected.corrections)
    # Of a part of the notes nothing is said of words that only a look into the texts could find.
    assert set(found.missing_words) <= set(expected.missing_words)


def test_of_a_part_of_the_notes_the_rest_still_says_how_rare_words_are(
    service: VaultService, published: list[PublishedNote], statistics: VaultStatistics
) -> None:
    one = [note for note in published if note.stored.rows.path == "Beans.md"]
    reader = service.reader()
    dimension = reader.searcher.embedder.model.dimension
    chosen = snapshot_of_notes(received(service, one), statistics, dimension)
    with closing(chosen.catalog):
        found = reader.searcher.search(chosen, SearchRequest("kiln beans xyzzy"))
        spelt = reader.searcher.search(chosen, SearchRequest("beens"))
    assert [hit.path for hit in found.hits][:1] == ["Beans.md"]
    assert found.missing_words == ("xyzzy",)  # the kiln is in a note that is not here
    assert not spelt.corrections or spelt.corrections[0].searched == "beans"


@given(cut=st.integers(0, 400), flipped=st.integers(0, 400), byte=st.integers(1, 255))
def test_damaged_bytes_are_refused(
    service: VaultService, published: list[PublishedNote], cut: int, flipped: int, byte: int
) -> None:
    dimension = service.reader().searcher.embedder.model.dimension
    whole = pack_note(published[0], with_text=True)
    damaged = bytearray(whole)
    damaged[flipped % len(whole)] ^= byte
    for data in (whole[:cut], bytes(damaged)):
        try:
            unpack_note(1, data, dimension)
        except ValueError as error:
            assert "\n" not in str(error)


@given(
    words=st.dictionaries(
        st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=12), st.integers(1, 9)
    )
)
def test_a_vocabulary_comes_back_as_it_was(words: dict[str, int]) -> None:
    found = Vocabulary.from_bytes(Vocabulary.of(words).to_bytes())
    assert {word: found.frequency(word) for word in words} == words
    assert found.frequency("no such word") == 0
    plain = {word: count for word, count in words.items() if not word.startswith("~")}
    assert found.words_with_prefix("") == plain
    for word in plain:
        start = word[:1]
        assert found.words_with_prefix(start) == {w: n for w, n in plain.items() if w.startswith(start)}
