"""What the faces keep of a person's opinion: clicks and grades, in the files of `indexer eval`."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from vault_evals.feedback import CLICKS, MAX_CLICK_BYTES, OLDER_CLICKS, FolderFeedbackStore, JudgingPool
from vault_evals.questions import GRADES, Judgements, clicks_folder, judged_folder
from vault_indexer.config import Settings
from vault_indexer.errors import UsageError
from vault_indexer.model import IndexCounts, StatusReport
from vault_indexer.service import VaultService


@dataclass
class Service:
    """What is asked of the service of a vault where no ranking is looked at."""

    index_dir: Path
    evals: dict[str, object] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        return Settings.model_validate({"evals": self.evals})

    def status(self) -> StatusReport:
        return StatusReport("/vault", str(self.index_dir), "ready", 1, 1, 0, IndexCounts(0, 0, 0, 0))

    def path_of(self, note: str) -> str:
        return f"{note}.md"


def store_in(index_dir: Path, **evals: object) -> FolderFeedbackStore:
    return FolderFeedbackStore(cast("VaultService", Service(index_dir, evals)))


@pytest.mark.posix("modes of files")
def test_clicks_are_kept_where_the_user_wants_that_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^clicks are not recorded: evals\.record_clicks is false$"):
        store_in(tmp_path).record_click("rings", "Sky", 1)
    assert list(tmp_path.iterdir()) == []
    store = store_in(tmp_path, record_clicks=True)
    file = store.record_click("rings é", "Sky", 1)
    assert file == clicks_folder(tmp_path / "evals") / CLICKS
    assert store.record_click("moon", "Sky", 2) == file
    first, second = map(json.loads, file.read_text("utf-8").splitlines())
    assert {**first, "time": ""} == {"time": "", "query": "rings é", "path": "Sky.md", "rank": 1}
    assert first["time"].endswith("Z")
    assert (second["query"], second["rank"]) == ("moon", 2)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    with pytest.raises(UsageError, match="the query is empty"):
        store.record_click(" ", "Sky", 1)
    assert len(file.read_text("utf-8").splitlines()) == 2


@pytest.mark.parametrize(("room", "is_full"), [(-1, True), (0, False), (10_000, False)])
def test_a_full_file_of_clicks_takes_the_place_of_the_one_before(
    tmp_path: Path, room: int, is_full: bool
) -> None:
    """`room` is left behind the next line."""
    store = store_in(tmp_path, record_clicks=True)
    file = store.record_click("rings", "Sky", 1)
    line = file.stat().st_size
    file.write_bytes(b"x" * (MAX_CLICK_BYTES - line - room))
    store.record_click("rings", "Sky", 1)
    assert file.with_name(OLDER_CLICKS).exists() == is_full
    assert file.stat().st_size == (line if is_full else MAX_CLICK_BYTES - room)


@pytest.mark.posix("modes of files")
def test_grades_are_kept_and_counted_by_question(tmp_path: Path) -> None:
    cases = tmp_path / "cases"
    store = store_in(tmp_path / "index", folder=str(cases))
    assert store.keep_grade("rings", "Sky.md", 2) == 1
    assert store.keep_grade(" rings ", "Moon.md", 0) == 2
    assert store.keep_grade("rings", "Sky.md", 1) == 2
    assert store.keep_grade("moon", "Moon.md", 2) == 1
    kept = Judgements.load(judged_folder(cases))
    assert list(kept.topics.values()) == ["rings", "moon"]
    assert list(kept.grades.values()) == [{"Sky.md": 1, "Moon.md": 0}, {"Moon.md": 2}]
    assert judged_folder(cases).stat().st_mode & 0o777 == 0o700
    with pytest.raises(UsageError, match="grade 3: choose one of 0, 1, 2"):
        store.keep_grade("rings", "Sky.md", 3)
    with pytest.raises(UsageError, match="the query is empty"):
        store.keep_grade(" ", "Sky.md", 1)
    assert not (tmp_path / "index").exists()


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "evals").write_text("in the way")
    store = store_in(tmp_path, record_clicks=True)
    with pytest.raises(UsageError, match=r"recorded\.jsonl: cannot be written: "):
        store.record_click("rings", "Sky", 1)
    with pytest.raises(UsageError, match=r"ranking.judged: cannot be written: "):
        store.keep_grade("rings", "Sky.md", 1)


def test_without_a_question_there_is_a_list_of_them(tmp_path: Path) -> None:
    store = store_in(tmp_path, record_clicks=True)
    folder = judged_folder(tmp_path / "evals")
    assert store.next_pool(" ") == JudgingPool("", (), 0, tuple(GRADES.values()), (), folder)
    for query in ("stars", "rings", "stars"):
        store.record_click(query, "Sky", 1)
    store.keep_grade("rings", "Sky.md", 2)
    found = store.next_pool("")
    assert (found.questions, found.notes, found.judged) == (("rings", "stars"), (), 0)
