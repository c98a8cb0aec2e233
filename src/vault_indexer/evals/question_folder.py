"""Where the questions of a folder of cases are: its folder `ranking`.

ranking/generated.jsonl          what `indexer eval generate` made
ranking/*.jsonl                  questions written by hand or by another program
ranking/judged/                  topics.tsv and qrels.txt, what `indexer eval judge` keeps
ranking/clicks/*.jsonl           clicks: {"query": …, "path": …}
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from vault_indexer.errors import UsageError
from vault_indexer.evals.judging import Judgements
from vault_indexer.evals.questions import Question, read_clicks, read_questions

RANKING_FOLDER = "ranking"


def generated_file(cases: Path) -> Path:
    """The file of generated questions."""
    return cases / RANKING_FOLDER / "generated.jsonl"


def judged_folder(cases: Path) -> Path:
    """The folder of judgements by hand."""
    return cases / RANKING_FOLDER / "judged"


def clicks_folder(cases: Path) -> Path:
    """The folder of clicks."""
    return cases / RANKING_FOLDER / "clicks"


def load_questions(cases: Path) -> list[Question]:
    """All questions of a folder of cases; none if it has no folder `ranking`.

    Raises UsageError for a file that is not valid, or an id that stands in two files.
    """
    folder = cases / RANKING_FOLDER
    found = [one for file in sorted(folder.glob("*.jsonl")) for one in read_questions(file)]
    found += Judgements.load(judged_folder(cases)).questions()
    found += read_clicks(*sorted(clicks_folder(cases).glob("*.jsonl")))
    _check_ids(found, folder)
    return found


def _check_ids(questions: Iterable[Question], folder: Path) -> None:
    seen: set[str] = set()
    for one in questions:
        if one.id in seen:
            raise UsageError(f"{folder}: id {one.id!r} stands in two files")
        seen.add(one.id)
