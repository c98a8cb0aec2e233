"""A vault holds links where the program writes: nothing outside of the folder may change."""

import logging
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_sandbox import make
from serve_api import Api

from vault_evals.pages import Page, PageSnapshots, snapshot_name
from vault_evals.questions import Judgements, Question, write_questions
from vault_evals.ranking_commands import write_report
from vault_indexer.daemon.log import RotatingLog
from vault_indexer.system import atomic_file, open_to_append, write_atomically

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="git makes no links there")

MINE = "# mine\n"
URL = "https://example.org/bread"
CASE = """\
id: knead
agent: search
layer: 2
input: {query: knead the dough}
expected:
  expected_citations:
    - {path: Kitchen/Bread.md, heading: Kneading, quote: "Knead the dough until it was smooth"}
"""
Write = Callable[[Path], object]


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    file = tmp_path / "home" / ".bashrc"
    file.parent.mkdir()
    file.write_text(MINE)
    return file


def write_page(folder: Path) -> None:
    PageSnapshots(folder).write(Page(URL, 200, URL, "$(touch /tmp/run)", "2026-01-01T00:00:00+00:00"))


@pytest.mark.parametrize(
    ("name", "write"),
    [
        (snapshot_name(URL), write_page),
        ("topics.tsv", lambda folder: Judgements(folder).save()),
        (
            "questions.jsonl",
            lambda folder: write_questions(folder / "questions.jsonl", [Question("1", "x", {})]),
        ),
        ("report.md", lambda folder: write_report("# Report", folder / "report.md")),
    ],
)
def test_no_link_beside_a_file_is_written_through(
    tmp_path: Path, victim: Path, name: str, write: Write
) -> None:
    (tmp_path / f"{name}.tmp").symlink_to(victim)
    (tmp_path / name).symlink_to(victim)
    write(tmp_path)
    assert victim.read_text() == MINE
    assert not (tmp_path / name).is_symlink()


@pytest.mark.long
def test_accepting_todays_values_writes_through_no_link(tmp_path: Path, victim: Path) -> None:
    sandbox = make(tmp_path)
    sandbox.write("evals/l2/c.yaml", CASE)
    (sandbox.vault / "evals" / "l2" / "c.yaml.tmp").symlink_to(victim)
    ran = sandbox.indexer("eval", "drift", "--accept", "--cases", str(sandbox.vault / "evals"))
    assert "1 citation refreshed" in ran.err
    assert victim.read_text() == MINE


def test_a_temporary_name_cannot_be_foreseen(tmp_path: Path) -> None:
    names = set()
    for _ in range(2):
        with atomic_file(tmp_path / "note.yaml") as file:
            file.write(b"1")
            names |= {path.name for path in tmp_path.iterdir()} - {"note.yaml"}
    assert len(names) == 2
    assert list(tmp_path.iterdir()) == [tmp_path / "note.yaml"]


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(tmp_path: Path, victim: Path) -> None:
    folder = tmp_path / "evals"
    folder.mkdir()
    with atomic_file(folder / ".bashrc") as file:
        file.write(b"theirs")
        folder.rename(tmp_path / "moved")
        folder.symlink_to(victim.parent)
    assert victim.read_text() == MINE
    assert (tmp_path / "moved" / ".bashrc").read_bytes() == b"theirs"


def test_what_a_crash_left_is_removed_by_a_later_write(tmp_path: Path) -> None:
    old, young, other = (
        tmp_path / name for name in (".a.yaml.0123.tmp", ".a.yaml.4567.tmp", ".b.yaml.0123.tmp")
    )
    for path in (old, young, other):
        path.write_text("half")
    yesterday = time.time() - 86_400
    for path in (old, other):
        os.utime(path, (yesterday, yesterday))
    write_atomically(tmp_path / "a.yaml", b"whole")
    assert [path.exists() for path in (old, young, other)] == [False, True, True]


def test_a_write_that_fails_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomically(tmp_path / "a", b"1")
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / ("é" * 125 + ".yaml")
    write_atomically(file, b"1")
    assert file.read_bytes() == b"1"


def test_nothing_is_appended_to_but_a_file(tmp_path: Path, victim: Path) -> None:
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(victim)
    os.mkfifo(pipe)
    for path in (link, pipe, tmp_path):
        with pytest.raises(OSError, match=re.escape(str(path))):
            open_to_append(path)
    assert victim.read_text() == MINE


@pytest.mark.long
def test_no_daemon_starts_whose_log_is_a_link(tmp_path: Path, victim: Path) -> None:
    sandbox = make(tmp_path)
    log = sandbox.index_dir / "daemon.log"
    log.parent.mkdir(mode=0o700)
    log.symlink_to(victim)
    ran = sandbox.indexer("start")
    assert (ran.code, ran.complains(str(log))) == (3, True), ran.err
    assert victim.read_text() == MINE


def test_a_log_that_becomes_a_link_is_written_no_more(tmp_path: Path, victim: Path) -> None:
    log = RotatingLog(tmp_path / "daemon.log")
    record = logging.LogRecord("a", logging.WARNING, "", 0, "one", None, None)
    log.emit(record)
    (tmp_path / "daemon.log").unlink()
    (tmp_path / "daemon.log").symlink_to(victim)
    log.emit(record)
    log.close()
    assert victim.read_text() == MINE


def test_no_click_is_appended_to_a_link(api: Api, victim: Path) -> None:
    clicks = api.index_dir / "evals" / "ranking" / "clicks"
    clicks.mkdir(parents=True, exist_ok=True)
    (clicks / "recorded.jsonl").symlink_to(victim)
    refused = api.post("/v1/click", b'{"q": "bread", "path": "Bread.md", "rank": 1}')
    assert refused.status == 422, refused.body
    assert victim.read_text() == MINE
