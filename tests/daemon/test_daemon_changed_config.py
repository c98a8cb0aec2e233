"""A configuration that changes while the daemon runs."""

from __future__ import annotations

import shutil
from pathlib import Path

from loop_by_hand import LoopByHand
from vault_at_work import Place, daemon, wait_for


def test_a_change_that_alters_the_index_rebuilds_it_at_once(built: Place, tmp_path: Path) -> None:
    shutil.copytree(built.vault.parent, tmp_path, dirs_exist_ok=True)
    where = Place(tmp_path / "vault", tmp_path / "index", tmp_path / "config.toml")
    with daemon(where) as service:
        before = service.status().generation
        where.configure('[index]\nworkers = 1\n[chunking]\nstrategy = "none"\n')
        wait_for(lambda: service.status().generation == before + 1)


def test_a_change_that_cannot_be_used_is_named_until_it_is_corrected(kept: LoopByHand) -> None:
    kept.where.configure("[chunking]\nstrategy = 5\n")
    kept.run(1.0)
    (notice,) = kept.notices
    assert notice.startswith("the changed configuration is not used")
    kept.where.configure("")
    kept.run(1.0)
    assert not kept.notices
