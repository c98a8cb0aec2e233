"""After any series of edits the index equals that of a fresh build, and each commit is read once."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reliability_lab import (
    InProcessPool,
    assembly_of,
    assert_equal,
    make_vault,
    opened,
    told_by,
    told_by_a_fresh_build,
)

from vault_indexer.index.jobs import Job, Outcome, Pool
from vault_indexer.index.note_workers import WorkerSpec, start_worker
from vault_indexer.index.workers.pool import Died
from vault_indexer.store.catalog import CatalogReader

PATHS = ("Anchor.md", "Basalt.md", "Sub/Cobalt.md", "Sub/Ember.md", "Über/Anchor.md", "Fathom.png")
WORDS = ("kestrel", "[[Anchor]]", "[[Basalt#Harbour]]", "#garnet/ivory", "\n\n## Ember\n\n", "[[Fathom.png]]")
edits = st.tuples(
    st.sampled_from(("save", "save", "delete", "rename")),
    st.sampled_from(PATHS),
    st.sampled_from(PATHS),
    st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join),
)


def edit_vault(vault: Path, edit: tuple[str, str, str, str]) -> None:
    kind, name, to, text = edit
    path = vault / name
    if kind == "save":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    elif kind == "delete":
        path.unlink(missing_ok=True)
    elif path.exists() and (vault / to).parent.exists():
        path.rename(vault / to)


@pytest.mark.long
@settings(max_examples=settings().max_examples // 5)  # each is two builds
@given(history=st.lists(st.lists(edits, min_size=1, max_size=4), min_size=1, max_size=4))
def test_a_history_of_edits_gives_the_index_of_a_fresh_build(
    history: list[list[tuple[str, str, str, str]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    room = tmp_path_factory.mktemp("history")
    vault = make_vault(room / "vault", random.Random("history"), 3)
    with opened(assembly_of(vault, room / "index")) as session:
        for batch in history:
            for edit in batch:
                edit_vault(vault, edit)
            session.wait_fresh(0)
        found = told_by(session)
        assert session.verify(repair=False) == ()
    assert_equal(found, told_by_a_fresh_build(vault, room / "fresh"))


@dataclass
class LogReads:
    """How often each side has read the catalog's log of changes: statements, by "keeper" and "worker"."""

    counts: Counter[str]
    reading: str = "keeper"


class CountedPool(InProcessPool):
    def __init__(self, worker: WorkerSpec, reads: LogReads) -> None:
        super().__init__(lambda: start_worker(worker))
        self._reads = reads

    def each(self, job: Job) -> Iterator[tuple[Job, Outcome | Died]]:
        self._reads.reading = "worker"
        done = list(super().each(job))
        self._reads.reading = "keeper"
        yield from done


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> LogReads:
    made, rows = LogReads(Counter()), CatalogReader.rows

    def counted(reader: CatalogReader, sql: str, *rest: object) -> list[tuple[object, ...]]:
        made.counts[made.reading] += " changes " in f"{sql} "
        return rows(reader, sql, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(CatalogReader, "rows", counted)
    return made


def test_a_commit_is_read_once_in_each_process(tmp_path: Path, reads: LogReads) -> None:
    vault = make_vault(tmp_path / "vault", random.Random("reads"), 3)
    assembly = assembly_of(vault, tmp_path / "index")
    counted = replace(assembly, make_pool=lambda worker, _size: cast(Pool, CountedPool(worker, reads)))
    with opened(counted) as session:
        edit_vault(vault, ("save", "Anchor.md", "", "a kestrel"))
        session.wait_fresh(0)
        reads.counts.clear()
        edit_vault(vault, ("save", "Anchor.md", "", "another kestrel"))
        session.wait_fresh(0)
    assert reads.counts == {"keeper": 1, "worker": 1}
