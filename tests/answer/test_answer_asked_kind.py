"""What questions ask for, and which sentences say such a thing."""

from __future__ import annotations

from pathlib import Path

from golden_cases import check_golden, of_parts

from vault_indexer.answer.asked_kind import AskedKind, question_tables


def test_questions_and_what_sentences_say_are_those_of_the_golden() -> None:
    def kind(question: str) -> str:
        asked = AskedKind.read(question)
        return f"{asked.kind or 'other'} {asked.language}"

    check_golden(
        Path(__file__).parent / "fixtures" / "questions.md",
        {
            "Kinds, and the languages that they are asked in": kind,
            "What a sentence says": of_parts(
                lambda question, text: AskedKind.read(question).said_by(text, "", "en")
            ),
        },
    )


def test_a_word_that_the_notes_also_write_in_lower_case_is_no_name() -> None:
    asked = AskedKind.read("Who baked the cake?")
    assert asked.said_by("The cake is by Packages.", "", "en") == "name"
    assert asked.said_by("The cake is by Packages.", "", "en", frozenset({"~packag"})) == ""
    assert asked.said_by("The cake is in Packages.", "", "en") == ""


def test_every_language_has_words_for_every_kind() -> None:
    tables = question_tables()
    kinds = tables["en"].asks.keys()
    for language, table in tables.items():
        assert table.asks.keys() == table.says.keys() == table.means.keys() == kinds, language
        assert all(phrases.phrases for phrases in table.asks.values()), language
