"""The table `[vaults]`: what may stand in it, and how a vault is added and removed."""

from pathlib import Path

import pytest
import tomli
from golden_cases import check_golden
from hypothesis import example, given
from hypothesis import strategies as st

from vault_indexer.bootstrap import named_vaults, resolve_target
from vault_indexer.config import NamedVault, add_vault, load_own, remove_vault
from vault_indexer.config.tables.vault_table import is_vault_name
from vault_indexer.errors import ConfigError, UsageError
from vault_indexer.system import folder_slug

COMMENTED = (
    '# mine\nvault = "/n"  # default\n\n[vaults]\n# the old one\nold = "/old"\n\n[search]\nlimit = 5 # few\n'
)


def loaded(tmp_path: Path, text: str) -> dict[str, tuple[Path, Path | None]]:
    file = tmp_path / "config.toml"
    file.write_text(text, "utf-8")
    found = load_own(file, {}).settings.vaults
    return {name: (one.path, one.index_dir) for name, one in found.items()}


def test_a_path_or_a_table_names_a_vault(tmp_path: Path) -> None:
    text = '[vaults]\nwork = "/w"\nhome = { path = "notes", index_dir = "/i" }\n[vaults.a-1]\npath = "/a"\n'
    assert loaded(tmp_path, text) == {
        "work": (tmp_path / "/w", None),
        "home": (tmp_path / "notes", tmp_path / "/i"),
        "a-1": (tmp_path / "/a", None),
    }


def test_mistakes_have_one_line_each(tmp_path: Path) -> None:
    def refusal(text: str) -> str:
        with pytest.raises(ConfigError) as refused:
            loaded(tmp_path, text.replace("a{41}", "a" * 41))
        lines = str(refused.value).splitlines()
        assert all(line.startswith(f"file {tmp_path / 'config.toml'}: vaults") for line in lines)
        return " / ".join(line.partition(".toml: ")[2] for line in lines)

    check_golden(Path(__file__).parent / "fixtures" / "vaults.md", {"": refusal})


def test_adding_and_removing_keeps_everything_else(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(COMMENTED, "utf-8")
    add_vault(file, NamedVault("new-1", Path("/n w"), Path("/i")))
    text = file.read_text("utf-8")
    assert set(COMMENTED.splitlines()) <= set(text.splitlines())
    new = {"path": str(Path("/n w")), "index_dir": str(Path("/i"))}
    assert tomli.loads(text)["vaults"] == {"old": "/old", "new-1": new}
    remove_vault(file, "new-1")
    assert file.read_text("utf-8") == COMMENTED
    remove_vault(file, "old")
    assert tomli.loads(file.read_text("utf-8"))["vaults"] == {}
    assert "# the old one" in file.read_text("utf-8")


def test_two_vaults_share_neither_folder_nor_index(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    for text, part in (
        (f"a = '{tmp_path}'\nb = '{tmp_path}/x/..'", "same folder"),
        ('a = { path = "/a", index_dir = "/i" }\nb = { path = "/b", index_dir = "/i" }', "same index folder"),
    ):
        file.write_text(f"[vaults]\n{text}\n")
        with pytest.raises(UsageError, match=part):
            named_vaults(file, {})


def test_the_key_vault_is_kept_too(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('vault = "/n/My Notes"\n[vaults]\nwork = "/w"\n')
    assert [one.name for one in named_vaults(file, {})] == ["work", "my-notes"]
    file.write_text('vault = "/n/My Notes"\n')
    assert named_vaults(file, {}) == ()
    assert folder_slug(Path("/n/Ä Ö")) == "vault"


def test_a_vault_of_the_table_has_its_own_index(tmp_path: Path) -> None:
    vault, file = tmp_path / "v", tmp_path / "config.toml"
    vault.mkdir()
    file.write_text(f"[vaults]\nv = {{ path = '{vault}', index_dir = 'own' }}\n[index]\ndir = '/for-one'\n")
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    for folder, chosen, index_dir in (
        (vault, None, tmp_path / "own"),
        (vault, Path("/x"), Path("/x").absolute()),
        (tmp_path, None, tmp_path / "/for-one"),
    ):
        target = resolve_target(folder, chosen, file, environ=environ, options={})
        assert target.index_dir == index_dir
    assert resolve_target(None, None, file, environ=environ, options={}).vault == vault


@example("a" * 41)
@example("a" * 39 + " b")
@given(st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=60))
def test_a_name_made_from_a_folder_may_stand_in_the_table(folder: str) -> None:
    assert is_vault_name(folder_slug(Path("/notes", folder)))
