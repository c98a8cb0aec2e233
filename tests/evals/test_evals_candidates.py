"""What of a note is offered as a question, and which of what is offered is asked."""

import random
from pathlib import Path

import pytest
from eval_lab import write_vault
from questions_vault import target_of

from vault_evals.generate import (
    Candidate,
    Survey,
    as_query,
    choose_questions,
    content_words,
    edited,
    is_fit,
    is_template,
    same,
    survey_vault,
)
from vault_evals.questions import Edit
from vault_indexer.parse import parse_note


def survey(folder: Path, notes: dict[str, str]) -> Survey:
    target = target_of(write_vault(folder / "vault", notes), folder / "index")
    return survey_vault(target, lambda _done, _total: None)


def offered(found: Survey, kind: str) -> list[tuple[str, str, str]]:
    return [(one.text, one.target, one.source) for one in found.candidates if one.kind == kind]


TARGETS = {"Compost.md": "# Compost\n", "picture.png": ""}


@pytest.mark.parametrize(
    ("link", "asked"),
    [
        ("[[Compost|food of the beds]]", "food of the beds"),
        ("[**food** of\nthe beds](Compost.md)", "food of the beds"),
        ("[[Compost]]", ""),
        ("[[Compost|of the]]", ""),
        ("[[Compost|the compost]]", ""),
        ("[[Compost|`food` of beds]]", ""),
        ("[[Gone|food of the beds]]", ""),
        ("[[Garden|food of the beds]]", ""),
        ("![[Compost|food of the beds]]", ""),
        ("[[picture.png|food of the beds]]", ""),
    ],
)
def test_the_text_of_a_link_asks_for_the_note_behind_it(tmp_path: Path, link: str, asked: str) -> None:
    found = survey(tmp_path, {**TARGETS, "Garden.md": f"# Garden\n\nGive {link} every autumn.\n"})
    assert offered(found, "link") == ([(asked, "Compost.md", "Garden.md")] if asked else [])


def test_other_links_to_the_note_are_words_while_its_question_is_asked(tmp_path: Path) -> None:
    text = (
        "Give [[Compost|food of beds]] or ![[Compost]]. See [[Compost|black gold]], "
        "[Food of beds](Compost.md) and [[Compost]]. [[Other]].\n"
    )
    found = survey(tmp_path, {**TARGETS, "Other.md": "# Other\n", "Garden.md": text})
    one = next(one for one in found.candidates if one.text == "food of beds")
    assert edited(text, one.edits) == "Give  or . See black gold,  and Compost. [[Other]].\n"


@pytest.mark.parametrize(
    "text",
    [
        # A link of the properties would stay in its note.
        '---\nsee: "[[Compost]]"\n---\n[[Compost|food of beds]] [[Other|paint of sheds]]\n',
        # Two notes would answer it.
        "[[Compost|food of beds]] [[Other|Food of beds!]] [[Other|paint of sheds]]\n",
    ],
)
def test_a_link_whose_text_would_stay_or_asks_for_two_notes_is_no_question(tmp_path: Path, text: str) -> None:
    found = survey(tmp_path, {**TARGETS, "Other.md": "# Other\n", "Garden.md": text})
    assert offered(found, "link") == [("paint of sheds", "Other.md", "Garden.md")]


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

## Of it
"""


def test_a_heading_asks_for_its_note_unless_it_is_its_title_or_stands_elsewhere(tmp_path: Path) -> None:
    found = survey(tmp_path, {"Letters.md": HEADINGS, "See.md": "[[Letters#How to find letters]]\n"})
    assert [text for text, *_ in offered(found, "heading")] == [
        "How to sign a short letter",
        "How to post a short letter",
    ]
    first = next(one for one in found.candidates if one.kind == "heading")
    assert edited(HEADINGS, first.edits) == HEADINGS.replace("How to sign a short letter", "")


def test_the_names_of_a_note_are_no_questions(tmp_path: Path) -> None:
    text = "---\naliases: [how to sign a letter, seal]\n---\n# Post\n\n## How to sign a letter\n\n## {}\n"
    named = text.format("How to sign a letter at a desk")
    assert offered(survey(tmp_path, {"A.md": named}), "heading") == []
    other = text.format("How to print a seal on letters")
    assert len(offered(survey(tmp_path, {"A.md": other}), "heading")) == 1


def test_every_language_is_asked_as_it_is_written(tmp_path: Path) -> None:
    text = "# Le jardin\n\nC'est une terre noire qui nourrit les courges.\n\n## Nourrir les jeunes plantes\n"
    (one,) = survey(tmp_path, {"Jardin.md": text}).candidates
    assert (one.text, one.language) == ("Nourrir les jeunes plantes", "fr")


def test_a_survey_says_how_far_it_is_and_hashes_every_note(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"a.md": "a", "b.md": "b"})
    (vault / "bad.md").write_bytes(b"\xff\xfe\x00")
    said: list[tuple[int, int]] = []
    found = survey_vault(target_of(vault, tmp_path / "index"), lambda *one: said.append(one))
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


@pytest.mark.parametrize("text", ["a `b`", "{{a}}", "<% a", "a $$b$$", "| a | b |", "long " * 100])
def test_code_tables_and_long_texts_are_no_questions(text: str) -> None:
    assert not is_fit(f"before {text} after", "en")
    assert is_fit("before ~ a | b $ {c} after", "en")


@pytest.mark.parametrize(
    ("source", "query"),
    [
        ("Done and gone ^id-1", "Done and gone"),
        ("a **bold** _word_  and [more](x.md)", "a bold word and more"),
    ],
)
def test_a_query_is_what_a_person_would_type(source: str, query: str) -> None:
    assert as_query(source) == query


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("What is the use of it?", "en", 0),
        ("the heap of kitchen scraps in 2024", "en", 3),
        ("kompost auf dem beet", "de", 2),
        ("厨余堆肥方法", "zh", 3),
        ("堆肥", "zh", 1),
        ("a b 12 c3 d4e xx", "en", 3),
        ("der Kompost", "", 2),
        ("der Kompost", "en", 2),
    ],
)
def test_function_words_single_letters_and_numbers_say_nothing(text: str, language: str, words: int) -> None:
    assert content_words(text, language) == words


def test_texts_are_the_same_whatever_their_case_and_signs() -> None:
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
        ([candidate("link", "a", "b"), candidate("heading", "a")], 2),
        ([candidate("link", "a", "b", ("b", 0, 5)), candidate("heading", "b", "", ("b", 5, 9))], 2),
        ([candidate("link", "a", "b", ("b", 0, 5)), candidate("heading", "b", "", ("b", 4, 9))], 1),
        ([candidate("link", "a", "b", ("b", 0, 5)), candidate("heading", "c", "", ("c", 4, 9))], 2),
        ([candidate("link", "a", "b", ("b", 3, 5)), candidate("heading", "b", "", ("b", 0, 9))], 1),
        ([candidate("other", "a")], 0),
    ],
)
def test_no_two_questions_share_what_they_must_not(candidates: list[Candidate], size: int) -> None:
    hashes = dict.fromkeys("abc", "")
    assert len(choose_questions(Survey(candidates, hashes))) == size


def test_so_many_of_each_kind_are_asked_in_an_order_that_nobody_chose() -> None:
    names = [f"{number}" for number in range(9)]
    hashes = dict.fromkeys(names, "")
    made = [candidate(kind, name) for kind in ("heading", "link") for name in names]
    first = choose_questions(Survey(made, hashes), 4)
    assert [one.kind for one in first] == ["link"] * 4 + ["heading"] * 4
    random.Random(3).shuffle(made)
    assert choose_questions(Survey(made, hashes), 4) == first
    assert choose_questions(Survey(made, hashes), 2) == [*first[:2], *first[4:6]]
    assert [next(iter(one.grades)) for one in first[:4]] != sorted(
        next(iter(one.grades)) for one in first[:4]
    )
    assert len(choose_questions(Survey(made, hashes), 4, ["heading"])) == 4
