"""What of a note is offered as a question, and which of what is offered is asked."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from questions_vault import target_of

from vault_indexer.evals.generate import Survey, choose_questions, edited, survey_vault
from vault_indexer.evals.generate.candidates import Candidate
from vault_indexer.evals.generate.prose import (
    Sentence,
    as_query,
    content_words,
    is_prose,
    is_template,
    prose_sentences,
    same,
)
from vault_indexer.evals.questions import Edit
from vault_indexer.parse import parse_note


def survey(folder: Path, notes: dict[str, str]) -> Survey:
    for path, text in notes.items():
        file = folder / "vault" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return survey_vault(target_of(folder / "vault", folder / "index"), lambda _done, _total: None)


def offered(found: Survey, kind: str) -> list[tuple[str, str, str]]:
    return [(one.text, one.target, one.source) for one in found.candidates if one.kind == kind]


FEED = "You can feed hungry pumpkin beds every autumn by spreading {} on them."
FED = "How can I feed hungry pumpkin beds every autumn?"
TARGETS = {"Compost.md": "# Compost\n", "picture.png": ""}


@pytest.mark.parametrize(
    ("link", "is_offered"),
    [
        ("[[Compost]]", True),
        ("[black gold](Compost.md)", True),
        ("[[Compost|black gold]]", True),
        ("[[Gone]]", False),
        ("[[Garden]]", False),
        ("![[Compost]]", False),
        ("[[picture.png]]", False),
        ("Compost", False),
    ],
)
def test_a_sentence_with_a_link_to_another_note_asks_for_that_note(
    tmp_path: Path, link: str, is_offered: bool
) -> None:
    found = survey(tmp_path, {**TARGETS, "Garden.md": f"# Garden\n\n{FEED.format(link)}\n"})
    assert offered(found, "link") == ([(FED, "Compost.md", "Garden.md")] if is_offered else [])


def test_other_links_to_the_note_are_words_while_its_question_is_asked(tmp_path: Path) -> None:
    sentence = FEED.format("[[Compost]] or ![[Compost]]")
    text = f"{sentence}\n\nSee [[Compost|black gold]], ![[Compost]] and [[Compost]]. [[Other]].\n"
    found = survey(tmp_path, {**TARGETS, "Other.md": "# Other\n", "Garden.md": text})
    one = next(one for one in found.candidates if one.target == "Compost.md")
    assert edited(text, one.edits) == "\n\nSee black gold,  and Compost. [[Other]].\n"
    assert one.key == b""


def test_a_link_of_the_properties_stays_so_no_question_is_asked(tmp_path: Path) -> None:
    text = f'---\nsee: "[[Compost]]"\n---\n{FEED.format("[[Compost]]")}\n\n{FEED.format("[[Other]]")}\n'
    found = survey(tmp_path, {**TARGETS, "Other.md": "# Other\n", "Garden.md": text})
    assert offered(found, "link") == [(FED, "Other.md", "Garden.md")]


TURN = "You can turn kitchen scraps and dry leaves slowly into dark crumbly earth."
TURNED = "How can I turn kitchen scraps and dry leaves slowly into dark crumbly earth?"


@pytest.mark.parametrize(
    ("text", "is_offered"),
    [
        (f"{TURN} It is old. It is slow.", True),
        (f"{TURN} It is old.", False),
        (f"It is old. It is slow.\n\n- {TURN}", False),
        (f"> {TURN} It is old. It is slow.", False),
        (f"{TURN} It is old. It is slow. {TURN}", False),
        (f"{TURN.replace('kitchen', '[[kitchen]]')} It is old. It is slow.", False),
        (f"{TURN.replace('kitchen', '`kitchen`')} It is old. It is slow.", False),
        (f"{TURN.replace('dark', 'dark ' * 90)} It is old. It is slow.", False),
        ("You can turn it into earth. It is old. It is slow.", False),
    ],
)
def test_a_sentence_of_a_paragraph_asks_for_its_note(tmp_path: Path, text: str, is_offered: bool) -> None:
    found = survey(tmp_path, {"A.md": f"{text}\n"})
    assert offered(found, "sentence") == ([(TURNED, "A.md", "A.md")] if is_offered else [])
    for one in found.candidates:
        (edit,) = one.edits
        assert text[edit.start : edit.end] == TURN
        assert one.key


def test_a_sentence_that_begins_or_ends_with_a_link_asks_for_no_note_of_its_own(tmp_path: Path) -> None:
    first = "[[Compost]] lets you feed hungry pumpkin beds every autumn in gardens"
    text = f"{first}. It is old. It is slow. You can turn kitchen scraps slowly into earth for [[Compost]]"
    found = survey(tmp_path, {**TARGETS, "Garden.md": f"{text}\n"})
    assert offered(found, "sentence") == []
    assert [question for question, *_ in offered(found, "link")] == [
        "What lets me feed hungry pumpkin beds every autumn in gardens?"
    ]


HEADINGS = """\
# How to write a long letter

## How to sign a short letter

You sign it.

### How to post a short letter ###

> ## How to quote a short letter

How to fold a short letter
--------------------------

## How to lose a short letter

How to lose a short letter is no secret.

## How to find letters

## Old name
"""


def test_a_heading_asks_for_its_note_unless_it_is_its_title_or_stands_elsewhere(tmp_path: Path) -> None:
    found = survey(tmp_path, {"Letters.md": HEADINGS, "See.md": "[[Letters#How to find letters]]\n"})
    assert [text for text, *_ in offered(found, "heading")] == [
        "How do I sign a short letter?",
        "How do I post a short letter?",
    ]
    first = next(one for one in found.candidates if one.kind == "heading")
    assert edited(HEADINGS, first.edits) == HEADINGS.replace("How to sign a short letter", "")
    second = survey(tmp_path, {"Letters.md": "## How to sign a letter\n\n## How to go to it now\n"})
    assert [text for text, *_ in offered(second, "heading")] == ["How do I sign a letter?"]


def test_the_names_of_a_note_are_no_questions(tmp_path: Path) -> None:
    text = "---\naliases: [how to sign a letter, seal]\n---\n# Post\n\n## How to sign a letter\n\n## {}\n"
    named = text.format("How to sign a letter at a desk")
    assert offered(survey(tmp_path, {"A.md": named}), "heading") == []
    other = text.format("How to print a seal on letters")
    assert len(offered(survey(tmp_path, {"A.md": other}), "heading")) == 1


def test_a_language_without_forms_is_asked_as_it_stands(tmp_path: Path) -> None:
    text = (
        "# Le jardin\n\nLa terre noire du potager nourrit chaque automne les grandes courges orange. "
        "Elle vient du compost que nous avons fait. Les feuilles tombent des arbres dans la cour. "
        "Le terreau de [[Compost]] nourrit aussi les jeunes plantes du potager.\n"
    )
    found = survey(tmp_path, {**TARGETS, "Jardin.md": text})
    assert {one.language for one in found.candidates} == {"fr"}
    assert offered(found, "link") == []
    assert ("La terre noire du potager nourrit chaque automne les grandes courges orange.") in {
        sentence for sentence, *_ in offered(found, "sentence")
    }


def test_a_survey_says_how_far_it_is_and_hashes_every_note(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    for name in ("a", "b"):
        (tmp_path / "vault" / f"{name}.md").write_text(name)
    (tmp_path / "vault" / "bad.md").write_bytes(b"\xff\xfe\x00")
    said: list[tuple[int, int]] = []
    found = survey_vault(target_of(tmp_path / "vault", tmp_path / "index"), lambda *one: said.append(one))
    assert said == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert sorted(found.sha256) == ["a.md", "b.md"]


@pytest.mark.parametrize(
    ("path", "text", "is_one"),
    [
        ("Templates/a.md", "x", True),
        ("a/vorlagen/b/c.md", "x", True),
        ("templates.md", "x", False),
        ("a.md", "Hello {{title}}", True),
        ("a.md", "Hello {{ date:YYYY }}", True),
        ("a.md", "Hello <% tp.date %>", True),
        ("a.md", "Hello {{name}}", False),
    ],
)
def test_a_template_is_one_by_its_folder_or_what_it_holds(path: str, text: str, is_one: bool) -> None:
    assert is_template(parse_note(path, text.encode())) == is_one


@pytest.mark.parametrize("text", ["a `b`", "{{a}}", "<% a", "a $$b$$", "| a | b |", "```", "~~~"])
def test_code_and_tables_are_no_prose(text: str) -> None:
    assert not is_prose(f"before {text} after")
    assert is_prose("before ~ a | b $ {c} after")


def test_sentences_are_those_of_paragraphs_lists_and_quotes() -> None:
    text = (
        "# Heading. More.\n\nOne. Two.\n\n- three\n  - four. Five.\n- six\n\n> seven. Eight.\n\n"
        "```\nnine. Ten.\n```\n\n| a. B. |\n| --- |\n\n> - eleven\n"
    )
    found = list(prose_sentences(parse_note("a.md", text.encode())))
    shown = [(text[one.start : one.end].strip("> \n"), one.in_paragraph) for one in found]
    assert shown == [
        ("One.", True),
        ("Two.", True),
        *((part, False) for part in ("- three", "- four.", "Five.", "- six", "seven.", "Eight.", "- eleven")),
    ]
    assert found[0] == Sentence(text.index("One."), text.index("One.") + 4, True)


@pytest.mark.parametrize(
    ("source", "query"),
    [
        ("- [x] Done and gone ^id-1", "Done and gone"),
        ("12) Twelfth thing", "Twelfth thing"),
        ("> [!note]- Title here", "Title here"),
        ("> one\n> two", "one two"),
        ("a **bold** _word_ , and ( ) more", "a bold word, and more"),
    ],
)
def test_a_query_is_what_a_person_would_type(source: str, query: str) -> None:
    assert as_query(source) == query


def test_words_of_one_letter_and_numbers_say_nothing() -> None:
    assert content_words("a b 12 c3 d4e xx", "en") == 3
    assert content_words("堆肥", "zh") == 1
    assert content_words("der Kompost", "") == content_words("der Kompost", "en") == 2
    assert same(" Ein-Wort, ZWEI  Straße! ") == "ein wort zwei strasse"


def candidate(kind: str, target: str, source: str = "", *spans: tuple[str, int, int]) -> Candidate:
    edits = tuple(Edit(path, start, end) for path, start, end in spans)
    return Candidate(kind, f"{kind} {target} {source}", "en", target, source or target, edits)


def test_a_question_has_one_target_one_source_and_hides_its_own_text() -> None:
    hashes = {name: name.upper() for name in "abcde"}
    link = candidate("link", "a", "b", ("b", 0, 5), ("b", 9, 10))
    (one,) = choose_questions(Survey([link], hashes))
    assert (dict(one.grades), one.excluded, one.edits) == ({"a": 1}, ("b",), link.edits)
    assert (one.kind, one.text, one.language, dict(one.sha256)) == (
        "link",
        "link a b",
        "en",
        {"a": "A", "b": "B"},
    )
    (own,) = choose_questions(Survey([candidate("heading", "a")], hashes))
    assert (own.excluded, dict(own.sha256)) == ((), {"a": "A"})
    assert own.id.startswith("heading-") and own.id != one.id


@pytest.mark.parametrize(
    ("candidates", "size"),
    [
        ([candidate("link", "a", "b"), candidate("link", "a", "c")], 1),
        ([candidate("link", "a", "b"), candidate("link", "c", "b")], 1),
        ([candidate("link", "a", "b"), candidate("link", "b", "a")], 2),
        ([candidate("link", "a", "b"), candidate("sentence", "a"), candidate("heading", "a")], 3),
        ([candidate("link", "a", "b", ("b", 0, 5)), candidate("sentence", "b", "", ("b", 5, 9))], 2),
        ([candidate("link", "a", "b", ("b", 0, 5)), candidate("sentence", "b", "", ("b", 4, 9))], 1),
        ([candidate("link", "a", "b", ("b", 0, 5)), candidate("sentence", "c", "", ("c", 4, 9))], 2),
        ([candidate("link", "a", "b", ("b", 3, 5)), candidate("sentence", "b", "", ("b", 0, 9))], 1),
        ([candidate("other", "a")], 0),
    ],
)
def test_no_two_questions_share_what_they_must_not(candidates: list[Candidate], size: int) -> None:
    hashes = dict.fromkeys("abc", "")
    assert len(choose_questions(Survey(candidates, hashes))) == size


def test_so_many_of_each_kind_are_asked_in_an_order_that_nobody_chose() -> None:
    names = [f"{number}" for number in range(9)]
    hashes = dict.fromkeys(names, "")
    made = [candidate(kind, name) for kind in ("heading", "sentence") for name in names]
    first = choose_questions(Survey(made, hashes), 4)
    assert [one.kind for one in first] == ["sentence"] * 4 + ["heading"] * 4
    random.Random(3).shuffle(made)
    assert choose_questions(Survey(made, hashes), 4) == first
    assert choose_questions(Survey(made, hashes), 2) == [*first[:2], *first[4:6]]
    assert [next(iter(one.grades)) for one in first[:4]] != sorted(
        next(iter(one.grades)) for one in first[:4]
    )
    assert len(choose_questions(Survey(made, hashes), 4, ["heading"])) == 4
