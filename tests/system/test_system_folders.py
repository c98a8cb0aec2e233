"""Where index and configuration live, and how large a folder is."""

import re
from pathlib import Path

import platformdirs
import pytest

from vault_indexer.system import default_index_dir, size_of, user_config_file


def test_the_index_lies_in_the_state_folder_and_not_in_the_vault(tmp_path: Path) -> None:
    vault = tmp_path / "My notes"
    index = default_index_dir(vault, {"XDG_STATE_HOME": str(tmp_path / "state")})
    assert index.parent == tmp_path / "state" / "vault-indexer"
    assert re.fullmatch(r"My-notes-[0-9a-f]{16}", index.name)


def test_vaults_of_one_name_have_indices_of_their_own(tmp_path: Path) -> None:
    first, second = (default_index_dir(tmp_path / folder / "notes", {}) for folder in "ab")
    assert first != second
    assert first.name[:6] == second.name[:6] == "notes-"


@pytest.mark.posix("symbolic links")
def test_one_vault_by_two_paths_has_one_index(tmp_path: Path) -> None:
    vault = tmp_path / "notes"
    vault.mkdir()
    (tmp_path / "link").symlink_to(vault)
    assert default_index_dir(tmp_path / "link", {}) == default_index_dir(vault / ".." / "notes", {})


@pytest.mark.posix("paths with slashes")
@pytest.mark.parametrize("vault", ["/", "/...", "/" + "n" * 255, "/日本語ノート", "/a\nb", "/-x"])
def test_any_name_of_a_vault_makes_one_short_folder_name(vault: str) -> None:
    name = default_index_dir(Path(vault), {}).name
    assert re.fullmatch(r"\w[\w.-]{0,59}-[0-9a-f]{16}", name)


def test_a_relative_xdg_folder_does_not_count() -> None:
    expected = Path(platformdirs.user_config_dir("vault-indexer")) / "config.toml"
    assert user_config_file({"XDG_CONFIG_HOME": "relative"}) == expected
    assert user_config_file({}) == expected


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
