"""What becomes of the results of the workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

import pytest

from vault_indexer.errors import DiskFullError, ProviderError
from vault_indexer.index.build import Pool, prepare_all
from vault_indexer.index.jobs import Job, PrepareJob
from vault_indexer.index.workers.job import Failed


class FailingPool:
    """A pool whose workers have no disk, or no model."""

    def __init__(self, disk_full: bool) -> None:
        self._failed = Failed("no room", disk_full)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Failed]]:
        for job in jobs:
            yield job, self._failed


@pytest.mark.parametrize(("disk_full", "error"), [(True, DiskFullError), (False, ProviderError)])
def test_a_full_disk_is_told_from_a_model_that_fails(disk_full: bool, error: type[Exception]) -> None:
    with pytest.raises(error, match="no room") as raised:
        list(prepare_all(cast(Pool, FailingPool(disk_full)), [PrepareJob(("Bread.md",))]))
    assert raised.type is error
