"""A configuration that changes while the daemon runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from loop_by_hand import LoopByHand
from vault_at_work import WORDLLAMA, Place, copy_of, daemon, wait_for


@pytest.mark.long
def test_a_change_that_alters_the_index_rebuilds_it_at_once(built: Place, tmp_path: Path) -> None:
    where = copy_of(built, tmp_path)
    with daemon(where) as service:
        before = service.status().generation
        where.configure(f'{WORDLLAMA}[chunking]\nstrategy = "none"\n')
        wait_for(lambda: service.status().generation == before + 1)


def test_a_change_that_cannot_be_used_is_named_until_it_is_corrected(kept: LoopByHand) -> None:
    kept.where.configure(f"{WORDLLAMA}[chunking]\nstrategy = 5\n")
    kept.run(1.0)
    (notice,) = kept.notices
    assert notice.startswith("the changed configuration is not used")
    kept.where.configure(WORDLLAMA)
    kept.run(1.0)
    assert not kept.notices
