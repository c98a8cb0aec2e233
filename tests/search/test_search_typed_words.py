"""What a note holds letter for letter is never said to be in no note, and is found before pieces of it."""

from pathlib import Path

import pytest
from golden_cases import check_golden
from indexed_vault import Indexed, OpenNotes
from note_files import read_notes

from vault_indexer.model import AskRequest, SearchRequest
from vault_indexer.search.deadline import QueryDeadline, ReadingBudget
from vault_indexer.search.prepare import TypedWords, words_with_signs
from vault_indexer.service import VaultService

NOTES = read_notes(Path(__file__).parent / "fixtures" / "typed_vault.md")


def test_words_and_signs_are_found_as_the_golden_says(service: VaultService, signs: VaultService) -> None:
    def likely(query: str) -> str:
        answer = service.search(SearchRequest(query))
        paths = {hit.path for hit in answer.results if hit.relevance >= 0.8}
        return f"{answer.verdict} {', '.join(sorted(paths))}{answer.missing_words or ''}"

    def of_signs(query: str) -> str:
        answer = signs.search(SearchRequest(query))
        return f"{answer.verdict} {', '.join(sorted(hit.path for hit in answer.results))}"

    check_golden(
        Path(__file__).parent / "fixtures" / "typed_words.md",
        {
            "Words of notes": likely,
            "Words that no note has": lambda query: " ".join(
                service.search(SearchRequest(query)).missing_words
            ),
            "The first note": lambda query: service.search(SearchRequest(query)).results[0].path,
            "Words with signs": lambda text: str(list(words_with_signs(text))),
            "Signs are found as they are written": of_signs,
            "The advice on a filter that no note meets": lambda query: signs.search(
                SearchRequest(query)
            ).notices[0],
        },
    )


def test_an_answer_is_not_declined_for_a_word_that_a_note_has(service: VaultService) -> None:
    answer = service.ask(AskRequest("What is QX-77 for?"))
    assert answer.missing_words == ()
    assert answer.kind != "declined"


def test_nothing_is_said_of_a_word_that_was_not_looked_for_to_the_end(opened: Indexed) -> None:
    deadline = QueryDeadline(60)
    with opened[1].holder.lease() as snapshot:
        assert not TypedWords(snapshot, deadline).may_be_there("77-QX")
        assert TypedWords(snapshot, deadline, ReadingBudget(0)).may_be_there("77-QX")


SIGNS = {
    "Tasks.md": "- [ ] water the fern ⏳ 2025-01-02\n- [x] sweep 🧹\n",
    "Signs.md": "A ⇒ B, ¾ spoon, 30 m², H₂O, ④Fourth, 20 ℃, № 9, done ☑️, 注意！\n",
    "Plain.md": "Step 4, 34 spoon, 30 m2, H2O, 20 C, 𝐟𝐚𝐭 and ﬂat.\n",
    "🦉.md": "Night.\n",
    "Owls.md": "One 🦉 and one 🧹.\n",
    "📎 Clips.md": "# Clips\n\nPaper 👩‍🚀.\n",
}


@pytest.fixture(scope="module")
def signs(open_notes: OpenNotes) -> VaultService:
    return open_notes(SIGNS)[0]


def test_a_note_that_has_the_sign_as_its_name_comes_first(signs: VaultService) -> None:
    assert [hit.path for hit in signs.search(SearchRequest("🦉")).results] == ["🦉.md", "Owls.md"]


@pytest.mark.parametrize(
    "query",
    ['"the"', "line:(is on)", "content:7", '"parseFileName" OR "not here"', "section:20", 'match-case:"D++"'],
)
def test_a_query_of_filters_that_a_note_meets_is_not_none(service: VaultService, query: str) -> None:
    assert service.search(SearchRequest(query)).verdict == "strong"
