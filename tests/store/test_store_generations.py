"""The index folder: which generation is active, whatever a crash left behind."""

import os
import re
from pathlib import Path

import pytest

from vault_indexer.errors import IndexUnusableError, ManifestError
from vault_indexer.store.generations import Generation, IndexDir


@pytest.fixture
def index_dir(tmp_path: Path) -> IndexDir:
    return IndexDir(tmp_path / "i")


def made(index_dir: IndexDir) -> Generation:
    building = index_dir.begin()
    (building.folder / "manifest.toml").write_text("x")
    return index_dir.finish(building)


def test_a_generation_is_in_force_only_once_published(index_dir: IndexDir) -> None:
    assert index_dir.current() is None
    first = made(index_dir)
    index_dir.publish(first)
    second = made(index_dir)
    assert index_dir.current() == first
    index_dir.publish(second)
    assert index_dir.current() == second


def test_what_a_crashed_build_left_is_removed_by_the_next(index_dir: IndexDir) -> None:
    index_dir.publish(made(index_dir))
    left = index_dir.begin()
    assert left.folder.exists()
    again = index_dir.begin()
    assert again.number == left.number
    assert list(again.folder.iterdir()) == []
    assert again.folder.name == f"0002.{os.getpid()}.part"


@pytest.mark.parametrize("content", ["", "garbage", "0099\n", "0001"])
def test_a_damaged_pointer_falls_back_to_the_newest_complete_generation(
    index_dir: IndexDir, content: str
) -> None:
    made(index_dir)
    newest = made(index_dir)
    (index_dir.root / "CURRENT").write_text(content)
    current = index_dir.current()
    assert current is not None
    assert current.number == (1 if content == "0001" else newest.number)


@pytest.mark.posix("modes of files")
def test_the_folder_is_the_users_alone(index_dir: IndexDir) -> None:
    for folder in (index_dir.begin().folder, index_dir.root):
        assert (folder.stat().st_mode & 0o777) == 0o700


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(IndexUnusableError, match=r"file\Wi cannot be written"):
        IndexDir(tmp_path / "file" / "i").prepare()


def test_a_generation_has_its_files_in_its_folder(tmp_path: Path, index_dir: IndexDir) -> None:
    first = made(index_dir)
    assert first == Generation(1, tmp_path / "i" / "generations" / "0001")
    places = (first.catalog, first.vectors, first.next_vectors, first.keywords, first.manifest)
    names = [place.relative_to(first.folder).as_posix() for place in places]
    assert names == ["catalog.db", "vectors.faiss", "vectors.faiss.next", "keywords", "manifest.toml"]


def test_the_newest_generation_is_the_one_of_the_highest_number(tmp_path: Path, index_dir: IndexDir) -> None:
    index_dir.prepare()
    for name in ("9999", "10000", "0002", "0003.77.part", "notes"):
        (tmp_path / "i" / "generations" / name).mkdir()
    (tmp_path / "i" / "generations" / "20000").write_text("a file")
    assert [generation.number for generation in index_dir.complete()] == [2, 9999, 10_000]
    current = index_dir.current()
    assert current == Generation(10_000, tmp_path / "i" / "generations" / "10000")
    assert index_dir.begin().number == 10_001


def test_the_pointer_counts_if_its_checksum_fits(index_dir: IndexDir) -> None:
    first, second = made(index_dir), made(index_dir)
    index_dir.publish(first)
    pointer = index_dir.root / "CURRENT"
    assert re.fullmatch(r"0001 [0-9a-f]{8}\n", pointer.read_text())
    assert index_dir.current() == first
    pointer.write_text(pointer.read_text().replace("0001", "0002"))
    assert index_dir.current() == second
    pointer.write_text(pointer.read_text().replace("0002", "0001")[:-2])
    assert index_dir.current() == second


def test_a_pointer_that_cannot_be_read_is_an_error(index_dir: IndexDir) -> None:
    made(index_dir)
    (index_dir.root / "CURRENT").mkdir()
    with pytest.raises(IndexUnusableError, match=r"cannot read CURRENT: (Is a directory|Permission)"):
        index_dir.current()


@pytest.mark.parametrize(
    ("keep", "left"), [(0, [3, 4]), (1, [2, 3, 4]), (2, [1, 2, 3, 4]), (9, [1, 2, 3, 4])]
)
def test_so_many_older_generations_are_kept_and_all_later_ones(
    index_dir: IndexDir, keep: int, left: list[int]
) -> None:
    index_dir.collect(keep)
    generations = [made(index_dir) for _ in range(4)]
    index_dir.publish(generations[2])
    index_dir.collect(keep)
    assert [generation.number for generation in index_dir.complete()] == left


def test_a_manifest_comes_back_as_it_was_written(index_dir: IndexDir) -> None:
    generation = made(index_dir)
    generation.write_manifest('key = "value"\n\n')
    assert generation.read_manifest() == 'key = "value"\n'
    assert re.search(r"\n# crc32 [0-9a-f]{8}\n\Z", generation.manifest.read_text())


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("value", "valve", "its checksum does not fit"),
        ("# crc32 ", "# crc31 ", "its checksum line is damaged"),
        ("# crc32 ", "# crc32 0", "its checksum does not fit"),
    ],
)
def test_a_manifest_that_is_damaged_is_refused(
    index_dir: IndexDir, before: str, after: str, told: str
) -> None:
    generation = made(index_dir)
    generation.write_manifest('key = "value"')
    generation.manifest.write_text(generation.manifest.read_text().replace(before, after))
    with pytest.raises(ManifestError, match=told):
        generation.read_manifest()


def test_a_manifest_without_a_checksum_is_taken_as_it_is(index_dir: IndexDir) -> None:
    generation = made(index_dir)
    generation.manifest.write_text('key = "value"\n')
    assert generation.read_manifest() == 'key = "value"\n'
