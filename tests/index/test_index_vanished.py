"""A note that vanishes while a generation is built is no target of links; `verify` knows where links lead."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from reliability_lab import InProcessPool
from vault_at_work import Place, opened, place

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.index.jobs import Job, Outcome, Pool
from vault_indexer.index.note_workers import WorkerSpec, start_worker
from vault_indexer.index.workers.pool import Died
from vault_indexer.service import VaultService
from vault_indexer.store.catalog import CatalogWriter, ResolvedLink

pytestmark = pytest.mark.long

NOTES = {"A.md": "To [[Gone]] and [[Other]].\n", "Gone.md": "# Gone\n", "Other.md": "# Other\n\n[[Gone]]\n"}


class Vanishing(InProcessPool):
    """A file goes between the scan and the reading."""

    file: Path

    def run(self, jobs: Iterable[Job], *, fresh: bool = False) -> Iterator[tuple[Job, Outcome | Died]]:
        self.file.unlink(missing_ok=True)
        yield from super().run(jobs, fresh=fresh)


def build_while_it_vanishes(where: Place) -> VaultService:
    def make_pool(worker: WorkerSpec, _size: int) -> Pool:
        pool = Vanishing(lambda: start_worker(worker))
        pool.file = where.vault / "Gone.md"
        return cast(Pool, pool)

    session = LocalSession(replace(Assembly.of(where.target()), make_pool=make_pool))
    session.open(lambda _progress: None, build=True)
    return VaultService(session)


def test_a_note_that_vanishes_during_a_build_is_no_target(tmp_path: Path) -> None:
    where = place(tmp_path, NOTES)
    with closing(build_while_it_vanishes(where)) as service:
        assert [link.resolved for link in service.links("A").outgoing] == [None, "Other.md"]
        assert [(one.target, len(one.places)) for one in service.unresolved_links()] == [("Gone", 2)]
        assert service.verify() == ()
        built = list(service.export())
    with opened(Place(where.vault, tmp_path / "fresh", where.config)) as fresh:
        assert built == list(fresh.export())


@pytest.mark.parametrize("resolved", ["Gone.md", None])
def test_links_that_lead_elsewhere_are_found_and_repaired(tmp_path: Path, resolved: str | None) -> None:
    where = place(tmp_path, {name: text for name, text in NOTES.items() if name != "Gone.md"})
    with opened(where):
        pass
    catalog = CatalogWriter(where.index_dir / "generations" / "0001" / "catalog.db")
    with catalog.commit() as writer:
        writer.relink(["gone", "other"], lambda target, _: ResolvedLink(target, resolved, False))
    catalog.close()
    with opened(where) as service:
        found = service.verify()
        assert {(problem.store, problem.kind, problem.path) for problem in found} >= {
            ("links", "stale", "A.md")
        }
        service.verify(repair=True)
        assert service.verify() == ()
        assert [link.resolved for link in service.links("A").outgoing] == [None, "Other.md"]
