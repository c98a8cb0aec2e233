"""A new base of the vectors is made when many have changed, and not before."""

import random
from contextlib import closing
from pathlib import Path

from reliability_lab import assembly_of, make_vault, opened

from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.tasks.compaction import CompactionTask
from vault_indexer.daemon.tasks.upkeep import Upkeep
from vault_indexer.system.processes import ProcessLimits


def test_an_index_that_was_just_built_is_left_as_it_is(tmp_path: Path) -> None:
    assembly = assembly_of(make_vault(tmp_path / "vault", random.Random("due"), 4), tmp_path / "index")
    with opened(assembly):
        pass
    with closing(VaultSync(assembly, live=False)) as sync:
        assert sync.open_current() == ()
        upkeep = Upkeep(sync, (CompactionTask(ProcessLimits()),))
        upkeep.step(is_idle=True)
        assert upkeep.doing is None
        upkeep.end()
