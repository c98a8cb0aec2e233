"""A Vietnamese vault through the service: words that only marks distinguish, typed with them and without."""

from collections.abc import Callable
from pathlib import Path

import pytest
from golden_cases import check_golden
from indexed_vault import OpenNotes

from vault_indexer.model import SearchRequest
from vault_indexer.search.present.snippet import Snippets

NOTES = {
    "lúa": "Người nông dân gieo mạ trên những cánh đồng của làng vào mùa xuân.",
    "truyện": "Con ma trong truyện, ma ở bờ sông và ma ở chợ không có thật, người ta đã nói như vậy.",
    "gia đình": "Má của tôi và em bé đang ở nhà với bà ngoại, và má không đi chợ.",
    "mả": "Ngôi mả của ông nội nằm trên đồi, và chúng tôi đã đến đó với những bông hoa.",
    "cà phê": "Một quán café ở Hà Nội có cà phê trứng, và người ta ngồi ở đó cho đến khi trời tối.",
    "bếp": "Trứng và gạo ở trong bếp, và chúng tôi đã nấu cơm cho những người khách.",
    "plain": "ghi chu khong dau: gieo ma tren dong, viet nam",
}

Rank = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def rank(open_notes: OpenNotes) -> Rank:
    """The names of the notes that a query finds by word, best first."""
    service, _ = open_notes({f"{name}.md": text for name, text in NOTES.items()})

    def by_word(query: str) -> list[str]:
        hits = service.search(SearchRequest(query)).results
        return [Path(hit.path).stem for hit in hits if hit.why.keyword is not None]

    return by_word


def test_the_word_as_typed_comes_first(rank: Rank) -> None:
    check_golden(Path(__file__).parent / "fixtures" / "marks.md", {"": lambda query: rank(query)[0]})


def test_words_with_other_marks_are_found_behind(rank: Rank) -> None:
    assert {"lúa", "truyện", "gia đình", "mả", "plain"} <= set(rank("mạ"))
    assert {"lúa", "truyện", "gia đình", "mả", "plain"} <= set(rank("ma"))


def test_a_rare_word_is_not_taken_for_the_frequent_ones_that_look_like_it(rank: Rank) -> None:
    assert rank("mạ trứng")[0] == "lúa", "two notes hold `trứng`, one holds `mạ`, five a word like it"


def test_a_title_with_other_marks_is_not_what_the_query_names(rank: Rank) -> None:
    assert rank("cà phê")[0] == rank("ca phe")[0] == "cà phê"
    assert rank("mả")[0] == "mả"
    assert rank("mạ")[0] != "mả"


@pytest.mark.parametrize(
    ("word", "body", "marked"),
    [
        ("किताब", "पुस्तकालय में किताबें हैं", ["किताबें"]),
        ("हिन्दी", "यह हिन्दी भाषा है", ["हिन्दी"]),
        ("ספר", "זה סֵפֶר טוב", ["סֵפֶר"]),
        ("cafe", "un cafe\u0301 noir", ["cafe\u0301"]),
    ],
)
def test_a_snippet_marks_whole_words_in_scripts_with_marks(word: str, body: str, marked: list[str]) -> None:
    snippet = Snippets({word: ()}, 200).of(body, {word: 1.0})
    assert [snippet.text[start:end] for start, end in snippet.marks] == marked
