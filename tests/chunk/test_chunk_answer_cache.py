"""The folder of a model's answers is bounded, and what was used last stays."""

import os
from pathlib import Path

import pytest

from vault_indexer.chunk.llm_client import LOOK_EVERY, KeptAnswers

BLOCK = 4096


def aged(folder: Path, name: str, days: int) -> None:
    """As if the answer had been used so long ago."""
    file = folder / name
    then = file.stat().st_mtime - days * 86_400
    os.utime(file, (then, then))


def filled(folder: Path, count: int) -> list[str]:
    """Names of answers, the one used longest ago first."""
    names = [f"{n:02x}/t-{n}.txt" for n in range(count)]
    for place, name in enumerate(names):
        KeptAnswers(folder).add(name, f"answer {name}")
        aged(folder, name, count - place)
    return names


def there(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_what_was_not_used_for_the_longest_time_goes(tmp_path: Path) -> None:
    names = filled(tmp_path, 8)
    assert KeptAnswers(tmp_path).read(names[0]) == f"answer {names[0]}"
    KeptAnswers(tmp_path, max_bytes=8 * BLOCK).add("ff/new.txt", "x")
    # Nine answers in the room of eight: down to six, the one just read and the new one among them.
    assert there(tmp_path) == {names[0], *names[4:], "ff/new.txt"}


@pytest.mark.parametrize(("size", "are_kept"), [(0, True), (1, True), (BLOCK, True), (BLOCK + 1, False)])
def test_an_answer_takes_whole_blocks_and_one_at_least(tmp_path: Path, size: int, are_kept: bool) -> None:
    names = filled(tmp_path, 4)
    (tmp_path / names[3]).write_text("x" * size)
    KeptAnswers(tmp_path, max_bytes=5 * BLOCK).add("ff/new.txt", "x")
    assert there(tmp_path) == {*(names if are_kept else names[3:]), "ff/new.txt"}


@pytest.mark.posix("modes of files")
def test_the_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "answers"
    KeptAnswers(folder).add("00/a.txt", "é")
    assert KeptAnswers(folder).read("00/a.txt") == "é"
    assert KeptAnswers(folder).read("00/b.txt") is None
    assert (folder / "00").stat().st_mode & 0o777 == 0o700


def test_what_a_killed_process_left_half_written_goes_too(tmp_path: Path) -> None:
    names = filled(tmp_path, 4)
    (tmp_path / "00" / "tmp1.part").write_text("ha")
    aged(tmp_path, "00/tmp1.part", 100)
    KeptAnswers(tmp_path, max_bytes=5 * BLOCK).add("ff/new.txt", "x")
    assert there(tmp_path) == {*names[2:], "ff/new.txt"}


@pytest.mark.long
def test_a_process_that_lives_long_looks_again(tmp_path: Path) -> None:
    kept = KeptAnswers(tmp_path, max_bytes=100 * BLOCK)
    for n in range(LOOK_EVERY + 1):
        kept.add(f"{n % 7:02x}/{n}.txt", "x")
    assert len(there(tmp_path)) == 75
    assert kept.read(f"{LOOK_EVERY % 7:02x}/{LOOK_EVERY}.txt") == "x"


def test_a_file_in_the_way_costs_only_the_memory(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    kept = KeptAnswers(blocked)
    kept.add("00/a.txt", "x")
    assert kept.read("00/a.txt") is None
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "README").write_text("not one of ours")
    KeptAnswers(tmp_path / "odd", max_bytes=1).add("00/a.txt", "more")
    assert there(tmp_path / "odd") == {"README"}
