"""The derived indices when the worker that writes them does not live."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest
from reliability_lab import assembly_of, unheard

from vault_indexer.errors import IndexUnusableError
from vault_indexer.index.build import Pool
from vault_indexer.index.derived import DerivedIndices
from vault_indexer.index.jobs import KeywordsJob
from vault_indexer.index.opening import IndexPrefetch
from vault_indexer.index.workers.job import Died
from vault_indexer.store.catalog import CatalogWriter


class DyingPool:
    """A pool whose worker is killed over every job."""

    def __init__(self) -> None:
        self.tries = 0

    def run(self, jobs: Sequence[KeywordsJob]) -> Iterator[tuple[KeywordsJob, Died]]:
        for job in jobs:
            self.tries += 1
            yield job, Died(f"the process ended by signal {self.tries}")


def test_a_worker_that_keeps_dying_is_an_error_with_its_last_reason(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Bread.md").write_text("# Bread\n\nFlour and water.\n", "utf-8")
    assembly = assembly_of(vault, tmp_path / "index")
    assembly.index_dir.prepare()
    generation, _ = assembly.build_next(unheard, recompute_weights=True)
    pool = DyingPool()
    writer = CatalogWriter(generation.catalog)
    derived = DerivedIndices(generation, "m", 4, cast(Pool, pool), writer, IndexPrefetch(generation))
    with writer.commit():
        writer.remove_note("Bread.md")
    try:
        with pytest.raises(IndexUnusableError, match=r"cannot be brought up to date: .*signal 3"):
            derived.follow()
    finally:
        derived.close()
        writer.close()
    assert pool.tries == 3
