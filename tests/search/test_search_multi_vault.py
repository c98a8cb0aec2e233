"""A search over several vaults is one search: nearly the answer of one index over all of them."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from foreign_embedder import ForeignEmbedder
from golden_cases import check_golden
from indexed_vault import write_notes
from reliability_lab import assembly_of, opened

from vault_indexer.errors import QueryTimeoutError
from vault_indexer.model import Hit, SearchAnswer, SearchRequest
from vault_indexer.search import QueryDeadline, SearchedVault, SearchResult, search_vaults
from vault_indexer.service import VaultService
from vault_indexer.vaults import OpenVault, Vaults

TOPICS = {
    "bread": "Knead the dough with flour water and salt until the starter rises in the warm kitchen.",
    "stars": "The telescope shows Saturn and the moons of Jupiter on a clear night in winter.",
    "garden": "Sow tomatoes and kale in March and water the compost in the garden beds.",
    "budget": "The invoice of the supplier is paid in March before the quarterly report.",
    "travel": "The night train to Vienna leaves in the evening from the old station.",
    "music": "The quartet plays the slow movement with a warm tone and little vibrato.",
}
QUERIES = [
    *("knead the dough", "telescope saturn", "tomatoes in march", "invoice", "night train", "warm tone"),
    *("moons of jupiter at night", "how do I water the garden", "quarterly report of the supplier"),
    *("clear evening", "telescpe", '"old station"'),
]


def _notes() -> dict[str, dict[str, str]]:
    """Two vaults of different size and words: `a` is about bread and stars, `b` about the rest."""
    vaults: dict[str, dict[str, str]] = {"a": {}, "b": {}}
    for number, (topic, text) in enumerate(TOPICS.items()):
        words = text.split()
        for part in range(9):
            turned = " ".join(words[part % 5 :] + words[: part % 5])
            vault = "a" if number < 2 or part == 8 else "b"
            vaults[vault][f"{topic.title()} {part}.md"] = (
                f"# {topic.title()} {part}\n\n{turned}\n\nSee {part}.\n"
            )
    vaults["a"]["Bread 0.md"] += "\nstatin\n"  # in `b` only "station", which is in `a` too
    return vaults


Three = tuple[Vaults, VaultService]


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Three]:
    """Two vaults, and the service of one vault that holds both."""
    root = tmp_path_factory.mktemp("together")
    vaults = _notes()
    write_notes(
        root / "both", {f"{name}/{path}": text for name in vaults for path, text in vaults[name].items()}
    )
    with ExitStack() as stack:
        one = {
            name: VaultService(
                stack.enter_context(opened(assembly_of(root / "both" / name, root / f"index-{name}")))
            )
            for name in ("a", "b", "")
        }
        yield Vaults([OpenVault(name, root / "both" / name, one[name]) for name in ("a", "b")]), one[""]


def _place(hit: Hit) -> str:
    return f"{hit.vault}/{hit.path}" if hit.vault else hit.path


def _places(answer: SearchAnswer) -> list[str]:
    return [_place(hit) for hit in answer.results]


@pytest.mark.long
@pytest.mark.parametrize("by_note", [False, True])
def test_the_answer_is_nearly_that_of_one_index(three: Three, by_note: bool) -> None:
    vaults, both = three
    shared, other_verdicts = [], []
    for query in QUERIES:
        request = SearchRequest(query, by_note=by_note)
        alone, together = both.search(request), vaults.search(request)
        expected, found = _places(alone), _places(together)
        assert _topic(found[0]) == _topic(expected[0]), query
        other_verdicts += [query] if alone.verdict != together.verdict else []
        assert together.results[0].score == pytest.approx(1.0)
        scores = [hit.score for hit in together.results]
        assert scores == sorted(scores, reverse=True)
        shared.append(len({*expected} & {*found}) / len(expected))
    assert sum(shared) / len(shared) > 0.8
    assert len(other_verdicts) <= 1, other_verdicts


def _topic(place: str) -> str:
    return place.rpartition("/")[2].split()[0]


def test_the_order_of_the_vaults_means_nothing(three: Three) -> None:
    vaults, _ = three
    for query in QUERIES:
        turned = Vaults([_renamed(one, "ba"["ab".index(one.name)]) for one in vaults.holders()])
        found = [_place(hit) for hit in vaults.search(SearchRequest(query)).results]
        other = turned.search(SearchRequest(query)).results
        again = [_place(replace(hit, vault="ba"["ab".index(hit.vault)])) for hit in other]
        assert sorted(found) == sorted(again), query


def _renamed(one: object, name: str) -> OpenVault:
    assert isinstance(one, OpenVault)
    return replace(one, name=name)


def test_a_filter_chooses_the_vault(three: Three) -> None:
    def chosen(query: str) -> str:
        answer = three[0].search(SearchRequest(query))
        vaults = sorted({hit.vault for hit in answer.results})
        assert vaults or any("no note matches" in notice for notice in answer.notices)
        return " ".join(vaults)

    check_golden(Path(__file__).parent / "fixtures" / "multi_vault.md", {"": chosen})


def test_limits_hold_for_the_whole_answer(three: Three) -> None:
    vaults, _ = three
    assert len(vaults.search(SearchRequest("night", limit=3)).results) == 3
    by_note = _places(vaults.search(SearchRequest("march", limit=20, by_note=True)))
    assert len(by_note) == len(set(by_note))
    relevant = vaults.search(SearchRequest("telescope saturn", min_relevance=0.9))
    assert all(hit.relevance >= 0.9 for hit in relevant.results)


def test_what_is_unknown_to_one_vault_alone_is_no_misspelling(three: Three) -> None:
    vaults, _ = three
    assert vaults.search(SearchRequest("vibrato telescope")).corrections == ()
    misspelt = vaults.search(SearchRequest("telescpe"))
    assert [one.searched for one in misspelt.corrections] == ["telescope"]


def test_the_deadline_holds_for_all(three: Three) -> None:
    vaults, _ = three
    readers = [one.service().reader() for one in vaults.holders()]
    with ExitStack() as leases:
        searched = [
            SearchedVault(
                str(number), Path(), leases.enter_context(one.holder.lease()), one.searcher.embedder
            )
            for number, one in enumerate(readers)
        ]
        with pytest.raises(QueryTimeoutError):
            search_vaults(searched, SearchRequest("night"), readers[0].searcher.settings, QueryDeadline(0))


def _search_two_models(vaults: Vaults, query: str) -> SearchResult:
    with ExitStack() as leases:
        searched = []
        for one in vaults.holders():
            reader = one.service().reader()
            snapshot = leases.enter_context(reader.holder.lease())
            settings = reader.searcher.settings
            embedder = reader.searcher.embedder if one.name == "a" else ForeignEmbedder()
            searched.append(SearchedVault(one.name, one.path, snapshot, embedder))  # type: ignore[arg-type]
        return search_vaults(searched, SearchRequest(query, limit=6), settings, QueryDeadline(30))


def test_a_word_of_a_vault_with_another_model_is_no_misspelling(three: Three) -> None:
    vaults, _ = three
    found = _search_two_models(vaults, "statin")
    assert found.corrections == ()
    assert not [notice for notice in found.notices if "also searched" in notice]


def test_hits_of_different_models_are_ordered_by_relevance(three: Three) -> None:
    vaults, _ = three
    found = _search_two_models(vaults, "march")
    # Each vault keeps its own order, and a hit counts for no more than those before.
    least = {"a": 1.0, "b": 1.0}
    counted = []
    for hit in found.hits:
        least[hit.vault] = min(least[hit.vault], hit.relevance)
        counted.append(least[hit.vault])
    assert counted == sorted(counted, reverse=True)
    assert {hit.vault for hit in found.hits} == {"a", "b"}
    scores = [hit.score for hit in found.hits]
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)
    assert any("order across them is less certain" in notice for notice in found.notices)
