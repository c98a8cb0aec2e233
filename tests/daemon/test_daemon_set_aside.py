"""A note that takes more than it may is set aside by name, and read again: later, or when it changes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from vault_at_work import NOTES, Place, hits, opened, place, wait_for

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.tasks.rechunk import QuarantineRetry
from vault_indexer.daemon.tasks.upkeep import Upkeep
from vault_indexer.index.jobs import Job, Pool
from vault_indexer.index.workers.pool import Died
from vault_indexer.model import Problem
from vault_indexer.vault.dirty import Quarantine

pytestmark = pytest.mark.long


REASON = "took over 0.2 s of processor time"
HOSTILE = " ".join(f"w{n}" for n in range(400_000))  # seconds of processor time: no word comes twice


@pytest.fixture
def where(tmp_path: Path) -> Place:
    """A vault with a note that takes long."""
    made = place(tmp_path, {**NOTES, "Hostile.md": f"# Hostile\n\nzirconium {HOSTILE}\n"})
    made.tune("[index]\nmax_note_seconds = 0.2\n")
    return made


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Refusing:
    """A spare process that ends over every note."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.begun: list[float] = []
        self._job: Job | None = None

    def begin(self, job: Job) -> None:
        self.begun.append(self.clock.now)
        self._job = job

    def result(self) -> tuple[Job, Died] | None:
        assert self._job is not None
        return self._job, Died(excess=REASON)

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def vault_sync(where: Place) -> Iterator[VaultSync]:
    """An index in which the note is set aside."""
    with opened(where, processes=True) as service:
        assert {skipped.path: skipped.reason for skipped in service.status().skipped} == {
            "Hostile.md": f"set aside: {REASON}"
        }
        assert service.status().counts.notes == len(NOTES)
        assert hits(service, "fan")[0].path == "Oven.md"
        assert service.verify(repair=False) == (Problem("vault", "set aside", REASON, "Hostile.md"),)
    made = VaultSync(Assembly.of(where.target()), live=False)
    assert made.open_current() == ()
    try:
        yield made
    finally:
        made.close()


def test_a_note_over_its_budget_is_set_aside_and_read_again_later(
    vault_sync: VaultSync, where: Place
) -> None:
    clock = Clock()
    vault_sync.dirty.aside = Quarantine(clock, first_s=60)
    vault_sync.dirty.aside.use(vault_sync.quarantine())
    retry = Upkeep(vault_sync, [QuarantineRetry(vault_sync)])
    current = vault_sync.current
    assert current is not None
    refusing = Refusing(clock)
    vault_sync.current = replace(current, spare=cast(Pool, refusing))
    for _ in range(700):
        retry.step(is_idle=True)
        clock.now += 30
    waits = [later - before for before, later in zip([0.0, *refusing.begun], refusing.begun, strict=False)]
    assert waits[0] == 60
    assert waits == sorted(waits)
    assert 3600 <= waits[-1] <= 3660
    assert [*vault_sync.quarantine()] == ["Hostile.md"]

    where.write("Hostile.md", "# Tame\n\nzirconium\n")  # nobody watches
    vault_sync.current = current
    clock.now += 3600
    retry.step(is_idle=False)
    assert retry.doing is None

    def is_read() -> bool:
        retry.step(is_idle=True)
        return not vault_sync.quarantine()

    wait_for(is_read)
    with current.writer.holder.lease() as snapshot:
        assert snapshot.catalog.note("Hostile.md") is not None
    assert vault_sync.verify(repair=False) == ()


@pytest.mark.slow
def test_a_note_that_changes_is_read_at_once(where: Place) -> None:
    with opened(where, processes=True) as service:
        assert len(service.status().skipped) == 1
        where.write("Hostile.md", "# Tame\n\nzirconium\n")
        assert service.verify(repair=True) != ()
        assert service.status().skipped == ()
        assert hits(service, "zirconium")[0].path == "Hostile.md"
