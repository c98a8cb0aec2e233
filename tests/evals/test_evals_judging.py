"""Judgements by hand: the pool, its order, the files, and a session at the terminal."""

import json
import os
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts

from vault_evals.questions import (
    Judgements,
    Question,
    clicks_folder,
    generated_file,
    hidden_order,
    judged_folder,
    load_questions,
    read_clicks,
    read_qrels,
    read_questions,
    write_questions,
)
from vault_indexer.errors import UsageError

QUESTION = "what becomes dark earth"


def test_the_order_tells_no_ranks() -> None:
    pool = [f"{number}.md" for number in range(20)]
    shown = hidden_order("q", pool)
    assert sorted(shown) == sorted(pool)
    assert shown not in (pool, sorted(pool))
    assert hidden_order("q", list(reversed(pool)) * 2) == shown  # neither order nor number of hits counts
    assert hidden_order("another", pool) != shown


def test_grades_are_on_disk_after_each_one(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "judged"
    own = Judgements.load(folder)
    name = own.add(f" {QUESTION}  ")
    own.grade(name, "A b/Ünder 100%.md", 2)
    own.grade(name, "c.md", 0)
    assert (folder / "topics.tsv").read_text() == f"{name}\t{QUESTION}\n"
    assert (folder / "qrels.txt").read_text() == f"{name} 0 A%20b/%C3%9Cnder%20100%25.md 2\n{name} 0 c.md 0\n"
    again = Judgements.load(folder)
    assert again.topics == {name: QUESTION}
    assert again.grades == {name: {"A b/Ünder 100%.md": 2, "c.md": 0}}
    assert again.add(QUESTION) == name
    assert again.left(name, ["c.md", "d.md"]) == ["d.md"]
    again.grade(again.add("nothing here"), "a.md", 0)  # with nothing to find, it is not asked
    assert [dict(one.grades) for one in again.questions()] == [again.grades[name]]
    again.grade(name, "c.md", 1)
    assert Judgements.load(folder).grades[name]["c.md"] == 1
    assert [(one.id, one.text, one.kind) for one in again.questions()] == [(name, QUESTION, "judged")]


def test_grades_of_qrels_replace_those_that_are_there(tmp_path: Path) -> None:
    own = Judgements.load(tmp_path)
    name = own.add(QUESTION)
    own.grade(name, "a.md", 1)
    file = tmp_path / "other.txt"
    file.write_text(f"{name} 0 a.md 2\n{name} Q0 b%20c.md -1\n")
    assert own.take(read_qrels(file)) == 2
    assert Judgements.load(tmp_path).grades == {name: {"a.md": 2, "b c.md": 0}}
    assert own.take([(name, "a.md", 2)]) == 0, "nothing changes"
    with pytest.raises(UsageError) as refused:
        own.take([("x", "a.md", 1), ("b", "a.md", 1), (name, "a.md", 1)])
    assert str(refused.value) == f"qrels: no question has the id 'b'; {tmp_path / 'topics.tsv'} lists them"
    assert own.grades[name]["a.md"] == 2


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    def refusal(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        with pytest.raises(UsageError) as refused:
            Judgements.load(tmp_path)
        (tmp_path / name).unlink()
        return str(refused.value).removeprefix(f"{tmp_path}{os.sep}")

    check_golden(Path(__file__).parent / "fixtures" / "judgements.md", {"": of_parts(refusal)})


def test_files_that_cannot_be_read_or_written_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    own = Judgements.load(tmp_path / "none")
    own.folder = tmp_path / "file"
    with pytest.raises(UsageError, match=r"file: cannot be written: File (already )?exists"):
        own.grade(own.add(QUESTION), "a.md", 1)
    (tmp_path / "qrels.txt").write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"qrels\.txt: cannot be read: not UTF-8"):
        Judgements.load(tmp_path)
    (tmp_path / "qrels.txt").unlink()
    (tmp_path / "qrels.txt").mkdir()
    with pytest.raises(UsageError, match=r"qrels\.txt: cannot be read: (Is a directory|Permission denied)"):
        Judgements.load(tmp_path)


def test_all_questions_of_a_folder_are_asked_each_once(tmp_path: Path) -> None:
    """Generated ones, those with grades, and those with clicks."""
    assert load_questions(tmp_path) == []
    generated = Question("generated-1", "text", {"a.md": 1}, "link")
    write_questions(generated_file(tmp_path), [generated])
    own = Judgements.load(judged_folder(tmp_path))
    name = own.add(QUESTION)
    own.grade(name, "a.md", 2)
    clicks = clicks_folder(tmp_path)
    clicks.mkdir()
    for file, path in (("older.jsonl", "b.md"), ("clicks.jsonl", "a.md")):
        line = json.dumps({"query": " rings ", "path": path})
        (clicks / file).write_text(f"{line}\n\n")
    found = load_questions(tmp_path)
    assert [(one.id, one.kind) for one in found[:2]] == [("generated-1", "link"), (name, "judged")]
    assert [(one.text, one.kind, dict(one.grades)) for one in found[2:]] == [
        ("rings", "clicked", {"a.md": 1, "b.md": 1})
    ]
    write_questions(generated_file(tmp_path).with_name("more.jsonl"), [generated])
    with pytest.raises(UsageError, match=r"ranking: id 'generated-1' occurs in two files"):
        load_questions(tmp_path)


def test_a_file_of_questions_that_cannot_be_had_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jsonl: cannot be read: No such file"):
        read_questions(tmp_path / "none.jsonl")
    (tmp_path / "odd.jsonl").write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"odd\.jsonl: cannot be read: not UTF-8"):
        read_clicks(tmp_path / "odd.jsonl")
    with pytest.raises(UsageError, match=r"odd\.jsonl.q\.jsonl: cannot be written: "):
        write_questions(tmp_path / "odd.jsonl" / "q.jsonl", [])
