"""Indices to measure: the vault's own one, and temporary ones that are built for a variant."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from vault_indexer.bootstrap import open_index
from vault_indexer.daemon.assembly import Assembly, Target
from vault_indexer.errors import IndexUnusableError
from vault_indexer.model import Progress
from vault_indexer.search import IndexReader

Report = Callable[[Progress], None]

FOLDER_PREFIX = "vault-indexer-eval-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that only the user can read. It is removed at the end, whatever ends the block."""
    with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX, ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


@contextmanager
def own_index(target: Target, report: Report) -> Iterator[IndexReader]:
    """The index of the vault as its user has it, in step with the vault unless a daemon writes it."""
    open_index(target, report).close()
    assembly = Assembly.of(target)
    current = assembly.index_dir.current()
    if current is None:
        raise IndexUnusableError("there is no index yet: run `indexer rebuild`")
    reader = assembly.open_to_read(current)
    try:
        yield reader
    finally:
        reader.holder.publish(None)


@contextmanager
def built_index(target: Target, report: Report, shared: Path | None) -> Iterator[IndexReader]:
    """A new index in the folder of `target`, built by the pipeline that builds every index.

    `shared` is an index folder from which known vectors and the token weights are taken.
    """
    assembly = replace(Assembly.of(target), shared_root=shared)
    assembly.index_dir.prepare()
    generation, _ = assembly.build_next(report, recompute_weights=False)
    reader = assembly.open_to_read(generation)
    try:
        yield reader
    finally:
        reader.holder.publish(None)
