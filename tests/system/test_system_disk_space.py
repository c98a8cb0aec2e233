"""The size of a folder that others write to."""

from pathlib import Path

import pytest

from vault_indexer.system import size_of


def test_all_files_below_count(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "one").write_bytes(b"12345")
    (tmp_path / "two").write_bytes(b"123")
    assert size_of(tmp_path) == 8
    assert size_of(tmp_path / "missing") == 0


def test_a_file_that_vanishes_meanwhile_counts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(b"123")
    stat_of = Path.lstat

    def vanish(path: Path) -> object:
        if path.name == "one":
            path.unlink()
        return stat_of(path)

    monkeypatch.setattr(Path, "lstat", vanish)
    assert size_of(tmp_path) == 3
