"""What the faces keep for `indexer eval`: clicks, which a user has to want, and grades."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from serve_api import Api, serve
from waiting import DEADLINE_S

from vault_evals.questions import Judgements, judged_folder, load_questions

pytestmark = pytest.mark.long

QUERY = "rings of Saturn"


@pytest.fixture(scope="module")
def keeping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A daemon whose user wants clicks to be kept."""
    process, running = serve(tmp_path_factory.mktemp("desk"), "[evals]\nrecord_clicks = true\n")
    yield running
    process.kill()
    process.communicate(timeout=DEADLINE_S)


def post(api: Api, route: str, **keys: object) -> tuple[int, dict[str, object]]:
    answer = api.post(f"/evals/{route}", json.dumps(keys).encode())
    return answer.status, answer.json


def pool(api: Api, question: str) -> dict[str, object]:
    answer = api.ask(f"/evals/judge?q={question.replace(' ', '%20')}")
    assert answer.status == 200, answer.body
    return answer.json


def paths_of(found: dict[str, object]) -> list[str]:
    notes = found["notes"]
    assert isinstance(notes, list)
    return [str(one["path"]) for one in notes]


def test_a_click_is_a_question_of_eval(keeping: Api) -> None:
    assert keeping.ask("/v1/status").json["records_clicks"] is True
    for rank in (2, 1):
        status, answer = post(keeping, "click", q=QUERY, path="Sky.md", rank=rank)
        assert status == 200, answer
    assert Path(str(answer["file"])).is_file()
    (question,) = load_questions(keeping.index_dir / "evals")
    assert (question.text, question.kind, dict(question.grades)) == (QUERY, "clicked", {"Sky.md": 1})


@pytest.mark.parametrize(
    ("keys", "status"),
    [
        ({"q": "", "path": "Sky.md", "rank": 1}, 422),
        ({"q": "x" * 5000, "path": "Sky.md", "rank": 1}, 422),
        ({"q": QUERY, "path": "Sky.md", "rank": 0}, 422),
        ({"q": QUERY, "path": "Sky.md", "rank": 1, "text": "more"}, 422),
        ({"q": QUERY, "path": "No such note.md", "rank": 1}, 404),
    ],
)
def test_a_wrong_click_is_refused(keeping: Api, keys: dict[str, object], status: int) -> None:
    assert post(keeping, "click", **keys)[0] == status


def test_grades_are_kept_in_the_files_of_the_terminal_and_judging_goes_on(keeping: Api) -> None:
    found = pool(keeping, QUERY)
    first, *others = paths_of(found)
    assert {first, *others} == {"Sky.md", "Bread.md"}
    assert found["judged"] == 0
    assert not set(json.dumps(found["notes"])) & set("0123456789")  # no rank and no score is among it
    assert post(keeping, "judge", q=QUERY, path=first, grade=2) == (
        200,
        {"question": QUERY, "path": first, "grade": 2, "judged": 1},
    )
    assert paths_of(pool(keeping, QUERY)) == others
    assert QUERY in str(pool(keeping, "")["questions"])
    cases = keeping.index_dir / "evals"
    kept = Judgements.load(judged_folder(cases))
    assert list(kept.topics.values()) == [QUERY]
    assert list(kept.grades.values()) == [{first: 2}]


@pytest.mark.parametrize("keys", [{"grade": 3}, {"grade": -1}, {"path": "No such note.md"}, {"q": ""}])
def test_a_wrong_grade_is_refused(keeping: Api, keys: dict[str, object]) -> None:
    given = {"q": QUERY, "path": "Sky.md", "grade": 1, **keys}
    assert post(keeping, "judge", **given)[0] in (404, 422)
