"""What questions ask for, and which sentences say such a thing."""

from __future__ import annotations

import pytest

from vault_indexer.answer.question import AskedKind, question_tables


@pytest.mark.parametrize(
    ("question", "kind", "language"),
    [
        ("Who baked the cake?", "who", "en"),
        ("By whom was it baked?", "who", "en"),
        ("When does the shop open?", "when", "en"),
        ("At what time does it open?", "when", "en"),
        ("When was it baked?", "past", "en"),
        ("Wann wurde es gebacken?", "past", "de"),
        ("Where is the key?", "where", "en"),
        ("Why does the pump stop?", "why", "en"),
        ("How many bulbs are in the box?", "count", "en"),
        ("How much flour goes into it?", "amount", "en"),
        ("How much does the ticket cost?", "price", "en"),
        ("How much does the bike weigh?", "weight", "en"),
        ("How long does the trip take?", "duration", "en"),
        ("How often is the bed watered?", "often", "en"),
        ("How old is the oak?", "age", "en"),
        ("In which version was it added?", "version", "en"),
        ("How do I open the lid?", "how", "en"),
        ("Which paint dries fastest?", "", "en"),
        ("Wie viel kostet die Karte?", "price", "de"),
        ("Wie viele Stühle stehen im Saal?", "count", "de"),
        ("Bis wann muss der Antrag gestellt werden?", "when", "de"),
        ("Warum ist der Hahn zu?", "why", "de"),
        ("¿Cuánto tiempo tarda el tren?", "duration", "es"),
        ("¿Quién tiene la llave?", "who", "es"),
        ("¿Cuántas sillas hay en la sala?", "count", "es"),
        ("Combien coûte le billet ?", "price", "fr"),
        ("Pourquoi la pompe est-elle arrêtée ?", "why", "fr"),
    ],
)
def test_the_kind_of_a_question(question: str, kind: str, language: str) -> None:
    asked = AskedKind.read(question)
    assert (asked.kind, asked.language) == (kind, language)


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        ("Who baked the cake?", "The cake was baked by Hanna.", "name"),
        ("Who baked the cake?", "Hanna M. Lind baked the cake.", "value"),
        ("Who baked the cake?", "Bake the cake in the Varano oven.", ""),
        ("Who may enter?", "Members may enter.", "word"),
        ("Who sends the bill?", "The garden centre sends the bill.", "word"),
        ("Who baked the cake?", "The cake is baked for an hour.", ""),
        ("Who wrote Gizmo?", "Gizmo is written in RustLang.", ""),
        ("When does it open?", "It opens on 3 May.", "value"),
        ("When does it open?", "It opens before the rain.", "word"),
        ("When does it open?", "It opens with a key.", ""),
        ("When was it opened?", "It was opened on 3 May.", "value"),
        ("When was it opened?", "It was opened after the war.", "word"),
        ("When was it opened?", "If it rains, each lid is opened.", ""),
        ("How many bulbs are there?", "The box holds six bulbs.", "value"),
        ("How many bulbs are there?", "The box is 6 cm deep; bulbs are small.", ""),
        ("How many bulbs are there?", "2. Put the bulbs in.", ""),
        ("How many bulbs are there of the 6?", "Of 6 bulbs some are broken.", ""),
        ("How many guests may come?", "There is no limit on guests.", "word"),
        ("How much does it cost?", "It costs 5 euros.", "value"),
        ("How much does it cost?", "It costs 450 crowns.", "value"),
        ("How much does it cost?", "It costs nothing before 5 days.", ""),
        ("How much does it cost?", "It takes 5 days.", ""),
        ("How much does it cost?", "It is free of charge.", "word"),
        ("How heavy is the bike?", "The bike has 8 kg.", "value"),
        ("How old is the oak?", "The oak is 20 m high.", ""),
        ("What temperature has the kiln?", "kiln: small; temperature: 1100", "value"),
        ("How long does it take?", "It takes 20 minutes.", "value"),
        ("How long does it take?", "It takes 20 eggs.", ""),
        ("Which version has it?", "It came with 4.2.", "value"),
        ("Which version has it?", "It came with the spring.", ""),
        ("Why does the pump stop?", "The pump stops because the filter is full.", "word"),
        ("Why does the pump stop?", "The pump stops at ten.", ""),
        ("How do I open the lid?", "Turn the lid.", "any"),
    ],
)
def test_what_a_sentence_says(question: str, text: str, said: str) -> None:
    assert AskedKind.read(question).said_by(text, "", "en") == said


def test_a_word_that_the_notes_also_write_in_lower_case_is_no_name() -> None:
    asked = AskedKind.read("Who baked the cake?")
    assert asked.said_by("The cake is in Packages.", "", "en") == "name"
    assert asked.said_by("The cake is in Packages.", "", "en", frozenset({"~packag"})) == ""


def test_every_language_has_words_for_every_kind() -> None:
    tables = question_tables()
    kinds = tables["en"].asks.keys()
    for language, table in tables.items():
        assert table.asks.keys() == table.says.keys() == table.means.keys() == kinds, language
        assert all(phrases.phrases for phrases in table.asks.values()), language
