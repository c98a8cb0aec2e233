"""What of a note is offered as a question, and which of what is offered is asked."""

import random
from pathlib import Path

import pytest
from eval_lab import write_vault
from golden_cases import check_golden, of_parts
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


def test_candidates_are_those_of_the_golden(tmp_path: Path) -> None:
    def asked(link: str) -> str:
        found = survey(tmp_path, {**TARGETS, "Garden.md": f"# Garden\n\nGive {link} every autumn.\n"})
        return ", ".join(map(" | ".join, offered(found, "link"))) or "nothing"

    def chosen(*candidates: str) -> int:
        return len(choose_questions(Survey([*map(candidate, candidates)], dict.fromkeys("abc", ""))))

    check_golden(
        Path(__file__).parent / "fixtures" / "candidates.md",
        {
            "The text of a link asks for the note behind it": asked,
            "Whether a note is a template": of_parts(
                lambda path, text: is_template(parse_note(path, text.encode()))
            ),
            "Code and tables are no questions": lambda text: str(is_fit(text, "en")),
            "A query is what a person would type": as_query,
            "Words that say something": of_parts(content_words),
            "Texts are the same whatever their case and signs": same,
            "No two questions share what they must not": of_parts(chosen),
        },
    )
    assert not is_fit(f"before {'long ' * 100} after", "en")


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


def candidate(text: str) -> Candidate:
    """Of `kind target source path:start:end …`; the source "-" is none."""
    kind, target, source, *spans = text.split()
    edits = (span.split(":") for span in spans)
    return Candidate(
        kind,
        f"{kind} {target} {source}",
        "en",
        target,
        target if source == "-" else source,
        tuple(Edit(path, int(start), int(end)) for path, start, end in edits),
    )


def test_a_question_has_one_target_one_source_and_hides_its_own_text() -> None:
    hashes = {name: name.upper() for name in "abcde"}
    link = candidate("link a b b:0:5 b:9:10")
    (one,) = choose_questions(Survey([link], hashes))
    assert (dict(one.grades), one.excluded, one.edits) == ({"a": 1}, ("b",), link.edits)
    assert (one.kind, one.text, one.language, dict(one.sha256)) == (
        "link",
        "link a b",
        "en",
        {"a": "A", "b": "B"},
    )
    (own,) = choose_questions(Survey([candidate("heading a -")], hashes))
    assert (own.excluded, dict(own.sha256)) == ((), {"a": "A"})
    assert own.id.startswith("heading-") and own.id != one.id


def test_so_many_of_each_kind_are_asked_in_an_order_that_nobody_chose() -> None:
    names = [f"{number}" for number in range(9)]
    hashes = dict.fromkeys(names, "")
    made = [candidate(f"{kind} {name} -") for kind in ("heading", "link") for name in names]
    first = choose_questions(Survey(made, hashes), 4)
    assert [one.kind for one in first] == ["link"] * 4 + ["heading"] * 4
    random.Random(3).shuffle(made)
    assert choose_questions(Survey(made, hashes), 4) == first
    assert choose_questions(Survey(made, hashes), 2) == [*first[:2], *first[4:6]]
    assert [next(iter(one.grades)) for one in first[:4]] == [*"7203"], "in every process"
