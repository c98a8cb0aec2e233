"""The table `[vaults]` is read without the rest of the configuration, and nothing of it is an error here."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import vaults_in_config


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (None, {}),  # there is no file
        ("[vaults", {}),
        ("vaults = 5", {}),
        ("[vaults]\nwork = 'Work'\nhome = { path = 'Home' }\nodd = 5\n", {"work": "Work", "home": "Home"}),
    ],
)
def test_the_vaults_of_a_configuration(tmp_path: Path, text: str | None, names: dict[str, str]) -> None:
    file = tmp_path / "config.toml"
    if text is not None:
        file.write_text(text, "utf-8")
    found = vaults_in_config(VaultSelection(config=file), {})
    assert found == {name: tmp_path / folder for name, folder in names.items()}
