"""Which vault a command means, by the table `[vaults]`."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_here import CommandHere

from vault_indexer.bootstrap import named_vaults, resolve_target
from vault_indexer.errors import UsageError


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('a = "x"\nb = "x"', "a and b are the same folder, {root}/x"),
        (
            'a = { path = "x", index_dir = "i" }\nb = { path = "y", index_dir = "i" }',
            "a and b have the same index folder, {root}/i",
        ),
    ],
)
def test_two_vaults_share_neither_folder_nor_index(here: CommandHere, table: str, said: str) -> None:
    file = here.sandbox.root / "c.toml"
    file.write_text(f"[vaults]\n{table}\n")
    with pytest.raises(UsageError) as refused:
        named_vaults(file, here.sandbox.environ)
    told = said.format(root=here.sandbox.root)
    assert str(refused.value) == f"[vaults]: {told}: give each its own"


def test_of_several_vaults_one_is_named(here: CommandHere) -> None:
    here.configure('[vaults]\na = "x"\nb = "y"\n')
    environ = here.sandbox.environ
    with pytest.raises(UsageError, match=r"^Which vault\? Add --vault a or --vault b\."):
        resolve_target(None, None, None, environ=environ, options={})
    here.configure(f'[vaults]\na = {{ path = "{here.sandbox.vault}", index_dir = "i" }}\n')
    target = resolve_target(None, None, None, environ=environ, options={})
    assert (target.vault, target.index_dir) == (here.sandbox.vault, here.config.parent / "i")
    with_option = resolve_target(None, Path("/tmp/other"), None, environ=environ, options={})
    assert with_option.index_dir == Path("/tmp/other")
