"""The options with which a command starts a daemon of its own place."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_indexer.cli.connection.daemon_command import place_options
from vault_indexer.cli.parameters import VaultSelection


@pytest.mark.parametrize(
    ("selection", "environ", "expected"),
    [
        (VaultSelection(), {}, []),
        (VaultSelection(index_dir=Path("i")), {}, ["--index-dir", "{here}/i"]),
        (VaultSelection(), {"INDEXER_INDEX_DIR": "j"}, ["--index-dir", "{here}/j"]),
        (VaultSelection(index_dir=Path("i")), {"INDEXER_INDEX_DIR": "j"}, ["--index-dir", "{here}/i"]),
        (VaultSelection(config=Path("c")), {"INDEXER_CONFIG": "d"}, ["--config", "{here}/c"]),
        (VaultSelection(), {"INDEXER_CONFIG": "/d"}, ["--config", "/d"]),
    ],
)
def test_what_was_named_is_named_to_the_daemon_in_full(
    selection: VaultSelection, environ: dict[str, str], expected: list[str]
) -> None:
    here = str(Path.cwd())
    assert place_options(selection, None, environ) == [one.replace("{here}", here) for one in expected]
    vault = ["--vault", f"{here}/Notes"]
    assert place_options(selection, Path("Notes"), environ)[:2] == vault
