"""Questions made from a vault: what is asked, what is hidden, what is left out."""

import hashlib
import json
from pathlib import Path

import pytest
from golden_cases import check_golden
from questions_vault import NOTES, target_of, write_vault

from vault_evals.generate import Survey, choose_questions, edited, same, shadow_vault, survey_vault
from vault_evals.questions import (
    ASIDE,
    TUNE,
    Edit,
    Question,
    part_of,
    question_id,
    read_clicks,
    read_questions,
    write_questions,
)
from vault_indexer.daemon.assembly import Target
from vault_indexer.errors import UsageError


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    folder = tmp_path_factory.mktemp("generate")
    return target_of(write_vault(folder / "vault"), folder / "index")


@pytest.fixture(scope="module")
def survey(target: Target) -> Survey:
    return survey_vault(target, lambda _done, _total: None)


@pytest.fixture(scope="module")
def questions(survey: Survey) -> list[Question]:
    return choose_questions(survey)


def test_the_shadow_holds_everything_but_the_hidden_text(
    target: Target, questions: list[Question], tmp_path: Path
) -> None:
    before = {path: (target.vault / path).stat() for path in NOTES}
    with shadow_vault(target, questions, tmp_path / "shadow") as shadow:
        assert {file.relative_to(shadow).as_posix() for file in shadow.rglob("*.*")} == set(NOTES)
        together = "\n".join(file.read_text() for file in shadow.rglob("*.md"))
        assert not [one.text for one in questions if same(one.text) in same(together)]
        for path in NOTES:
            assert (shadow / path).stat().st_mtime_ns == before[path].st_mtime_ns
        assert (shadow / "picture.png").read_bytes() == b""
    assert not (tmp_path / "shadow").exists()
    assert {path: (target.vault / path).stat() for path in NOTES} == before  # ctime too: nothing was linked


def test_a_question_keeps_everything_in_its_file(questions: list[Question], tmp_path: Path) -> None:
    write_questions(tmp_path / "q.jsonl", questions)
    assert read_questions(tmp_path / "q.jsonl") == questions


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    def refusal(line: str) -> str:
        file = tmp_path / "q.jsonl"
        file.write_text(f'{{"id": "right", "text": "x", "grades": {{}}}}\n{line}\n')
        with pytest.raises(UsageError) as error:
            read_questions(file)
        return str(error.value).removeprefix(f"{file}:")

    check_golden(Path(__file__).parent / "fixtures" / "questions.md", {"": refusal})


def test_the_part_of_a_path_is_fixed_for_ever() -> None:
    """Another value would move questions between what is tuned on and what is kept aside."""
    parts = [part_of(path) for path in ("Garden.md", "Notes/Compost.md", "a.md", "b.md")]
    assert parts == [TUNE, ASIDE, ASIDE, TUNE]


@pytest.mark.parametrize(
    ("grades", "target", "part"),
    [
        ({"a.md": 1, "b.md": 2}, "b.md", TUNE),
        ({"b.md": 2, "a.md": 2}, "a.md", ASIDE),
        ({"b.md": 0}, "b.md", TUNE),
        ({}, "", part_of("")),
    ],
)
def test_the_target_of_a_question_has_its_highest_grade(
    grades: dict[str, int], target: str, part: str
) -> None:
    question = Question("q", "text", grades)
    assert (question.target, question.part, question.is_generated) == (target, part, False)


def test_questions_made_from_the_vault_are_generated() -> None:
    kinds = ("link", "sentence", "heading", "judged", "clicked")
    assert [Question("q", "text", {}, kind).is_generated for kind in kinds] == [True] * 3 + [False] * 2


def test_an_id_depends_on_its_kind_and_all_parts() -> None:
    assert question_id("judged", "rings") == "judged-" + hashlib.sha256(b"judged\0rings").hexdigest()[:12]
    assert len({question_id("a", "b", "c"), question_id("a", "bc"), question_id("b", "b", "c")}) == 3


def test_a_file_of_questions_says_what_is_not_empty(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "q.jsonl"
    write_questions(file, [Question("q", "té", {}), Question("r", "x", {"a.md": 1}, "link", "en", ("b.md",))])
    first, second = file.read_text("utf-8").splitlines()
    assert first == '{"id": "q", "text": "té", "grades": {}, "kind": "judged"}'
    assert json.loads(second)["excluded"] == ["b.md"]
    write_questions(file, [])
    assert (file.read_text("utf-8"), read_questions(file)) == ("", [])
    file.write_text(f"{first}\n\n  \n{second}\n", "utf-8")
    assert [one.id for one in read_questions(file)] == ["q", "r"]
    file.write_text(f"{first}\n\n{first}\n", "utf-8")
    with pytest.raises(UsageError, match=r"q\.jsonl:3: id 'q' occurs twice in the file"):
        read_questions(file)


def test_clicks_are_told_apart_by_their_query(tmp_path: Path) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    one.write_text('{"query": " a ", "path": " x.md "}\n\n{"query": "b", "path": "x.md"}\n', "utf-8")
    two.write_text('{"query": "a", "path": "y.md"}\n{"query": "a"}\n', "utf-8")
    with pytest.raises(UsageError) as refused:
        read_clicks(one, two)
    assert str(refused.value) == f'{two}:2: expected {{"query": TEXT, "path": TEXT}}'
    two.write_text('{"query": "a", "path": "y.md"}\n', "utf-8")
    assert [(found.text, dict(found.grades)) for found in read_clicks(one, two)] == [
        ("a", {"x.md": 1, "y.md": 1}),
        ("b", {"x.md": 1}),
    ]


def test_edits_that_overlap_hide_all_they_cover() -> None:
    text = "one two three four"
    assert edited(text, [Edit("n", 4, 7), Edit("n", 4, 13), Edit("n", 0, 3, "1")]) == "1  four"
