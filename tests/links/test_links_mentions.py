"""Places that name a note without linking it; and the laws of finding names in texts."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from indexed_vault import OpenNotes
from linked_vault import NOTES

from vault_indexer.links.mentions import Name, find, names
from vault_indexer.model import Mention
from vault_indexer.service import VaultService
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.tokens import analyze

DIARY = NOTES["Diary.md"]


def test_a_name_is_found_where_chunks_touch(open_notes: OpenNotes) -> None:
    sizes = {"chunking.markdown.max_chunk_size": 8, "chunking.markdown.min_chunk_size": 1}
    notes = {"Bread.md": "# Bread\n", "Diary.md": "Baked bread again. " * 12}
    service, _ = open_notes(notes, options={"chunking.strategy": "markdown", **sizes})
    found = service.mentions("Bread").mentions
    assert [one.start_pos for one in found] == [6 + 19 * number for number in range(12)]


def in_diary(service: VaultService, note: str) -> list[Mention]:
    return [one for one in service.mentions(note).mentions if one.path == "Diary.md"]


def test_names_are_found_in_prose_and_nowhere_else(linked: VaultService) -> None:
    found = [(one.line, DIARY[one.start_pos : one.end_pos]) for one in in_diary(linked, "Bread")]
    words = [(7, "bread"), (7, "SOURDOUGH"), (7, "olbrot"), (17, "Bread")]
    assert found == [*words, (19, "bread"), (23, "bread"), (26, "bread")]
    alias = in_diary(linked, "Bread")[1]
    assert (alias.name, [alias.snippet[start:end] for start, end in alias.marks]) == (
        *("Sourdough", ["SOURDOUGH"]),
    )
    assert [one.line for one in in_diary(linked, "Night sky")] == [25], "over a line break"
    without_spaces = linked.mentions("検索").mentions
    assert [(one.path, one.line) for one in without_spaces] == [("Japanese.md", 3)]


def test_a_note_does_not_mention_itself_and_an_unnamed_one_has_none(linked: VaultService) -> None:
    assert "kitchen/Bread.md" not in {one.path for one in linked.mentions("Bread").mentions}
    assert linked.mentions("Japanese").mentions == ()


def test_a_limit_is_said(linked: VaultService) -> None:
    answer = linked.mentions("Bread", limit=2)
    assert (len(answer.mentions), answer.more) == (2, True)
    assert not linked.mentions("Bread").more


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Café", "the CAFE\u0301 and the cafe", ["CAFE\u0301", "cafe"]),
        ("C++", "C++ but not C++11, nor in Objective-C++x", ["C++"]),
        ("Straße", "STRASSE, straße", ["STRASSE", "straße"]),
        ("Æsop", "aesop’s… and Æsop", ["aesop", "Æsop"]),
        ("Night  sky", "night \t sky, nightsky, night-sky", ["night \t sky"]),
        ("plan", "plan_b, _plan_, plans, plan", ["plan"]),
        ("йод", "ЙОД и иод", ["ЙОД"]),
    ],
)
def test_whole_words_in_any_case_and_with_any_accents(name: str, text: str, expected: list[str]) -> None:
    found = find(text, names([name]), 0, len(text))
    assert [text[one.start : one.end] for one in found] == expected


def test_of_overlapping_names_the_longest_counts_and_each_name_counts_once() -> None:
    wanted = names(["bread", "Bread", "rye bread", "x", "…"])
    assert [one.text for one in wanted] == ["bread", "rye bread"]
    assert [one.name for one in find("rye bread, bread", wanted, 0, 16)] == ["rye bread", "bread"]


LETTERS = st.text(st.sampled_from("abcéÉüßæИйñ ’…—.-/_#3検索日o\u0301"), max_size=40)


@given(LETTERS, st.text(st.sampled_from("abéÜßæйñ-_.3検索"), min_size=2, max_size=6), LETTERS)
def test_a_name_between_spaces_is_found_and_the_index_knows_its_words(
    before: str, name: str, after: str
) -> None:
    wanted = names([name])
    text = f"{before} {name} {after}"
    if not wanted:
        return
    place = (len(before) + 1, len(before) + 1 + len(name))
    found = find(text, wanted, 0, len(text))
    assert any(one.start <= place[0] < one.end or one.start < place[1] <= one.end for one in found)
    terms = set(analyze(text, "en"))
    assert all(terms & required for required in wanted[0].required)


@given(LETTERS, LETTERS)
@example("3_", "3_\u0301")
def test_what_is_found_is_the_name(name: str, text: str) -> None:
    for one in find(text, names([name]), 0, len(text)):
        assert _words(text[one.start : one.end]) == _words(one.name) == Name(name).folded.split()


def _words(text: str) -> list[str]:
    return fold(normalize(text)).split()
