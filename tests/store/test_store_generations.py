"""The index folder: which generation is active, whatever a crash left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_indexer.errors import IndexUnusableError
from vault_indexer.store.generations import Generation, IndexDir


def made(index_dir: IndexDir) -> Generation:
    building = index_dir.begin()
    (building.folder / "manifest.toml").write_text("x")
    return index_dir.finish(building)


def test_a_new_folder_has_no_generation(tmp_path: Path) -> None:
    assert IndexDir(tmp_path / "i").current() is None


def test_a_generation_is_in_force_only_once_published(tmp_path: Path) -> None:
    index_dir = IndexDir(tmp_path / "i")
    first = made(index_dir)
    index_dir.publish(first)
    second = made(index_dir)
    assert index_dir.current() == first
    index_dir.publish(second)
    assert index_dir.current() == second


def test_what_a_crashed_build_left_is_removed_by_the_next(tmp_path: Path) -> None:
    index_dir = IndexDir(tmp_path / "i")
    index_dir.publish(made(index_dir))
    left = index_dir.begin()
    assert left.folder.exists()
    again = index_dir.begin()
    assert again.number == left.number
    assert list(again.folder.iterdir()) == []


@pytest.mark.parametrize("content", ["", "garbage", "0099\n", "0001"])
def test_a_damaged_pointer_falls_back_to_the_newest_complete_generation(tmp_path: Path, content: str) -> None:
    index_dir = IndexDir(tmp_path / "i")
    made(index_dir)
    newest = made(index_dir)
    (index_dir.root / "CURRENT").write_text(content)
    current = index_dir.current()
    assert current is not None
    assert current.number == (1 if content == "0001" else newest.number)


def test_collecting_keeps_the_generation_in_force_and_one_before(tmp_path: Path) -> None:
    index_dir = IndexDir(tmp_path / "i")
    for _ in range(4):
        index_dir.publish(made(index_dir))
    index_dir.collect()
    assert [generation.number for generation in index_dir.complete()] == [3, 4]


def test_the_folder_is_the_users_alone(tmp_path: Path) -> None:
    index_dir = IndexDir(tmp_path / "i")
    index_dir.prepare()
    assert (index_dir.root.stat().st_mode & 0o777) == 0o700


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(IndexUnusableError, match="file/i cannot be written"):
        IndexDir(tmp_path / "file" / "i").prepare()
