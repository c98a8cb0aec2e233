"""When a daemon that is started keeps all vaults of the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_indexer.cli.connection.multi_vault import keeps_all
from vault_indexer.cli.parameters import VaultSelection


@pytest.mark.parametrize(
    ("table", "here", "expected"),
    [
        ("[vaults]\nwork = 'Work'\n", "", True),
        ("[vaults]\nwork = 'Work'\n", "Work/Plans", True),
        ("[vaults]\nwork = 'Work'\n", "Other/Plans", False),  # a vault that the table lacks
        ("", "", False),
        ("", "Other/Plans", False),
    ],
)
def test_a_daemon_that_starts_in_a_vault_of_the_table_or_in_none_keeps_all(
    table: str, here: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for vault in ("Work", "Other"):
        (tmp_path / vault / "Plans").mkdir(parents=True)
        (tmp_path / vault / ".obsidian").mkdir()
    config = tmp_path / "config.toml"
    config.write_text(table, "utf-8")
    monkeypatch.chdir(tmp_path / here)
    assert keeps_all(VaultSelection(config=config), {}) is expected
    assert not keeps_all(VaultSelection(config=config, vault=tmp_path / "Work"), {}), "one is named"
