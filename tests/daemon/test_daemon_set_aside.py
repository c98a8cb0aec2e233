"""A note that takes more than it may is set aside by name, and read again: later, or when it changes."""

from contextlib import closing
from pathlib import Path

import pytest
from loop_by_hand import Clock
from vault_at_work import NOTES, hits, opened, place, wait_for

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.tasks.reread import QuarantineRetry
from vault_indexer.daemon.tasks.upkeep import Upkeep
from vault_indexer.model import Problem
from vault_indexer.vault.dirty import Quarantine

REASON = "took over 0.2 s of processor time"
HOSTILE = " ".join(f"w{n}" for n in range(400_000))  # seconds of processor time: no word comes twice


@pytest.mark.long
def test_a_note_over_its_budget_is_set_aside_and_read_again_later(tmp_path: Path) -> None:
    where = place(tmp_path, {**NOTES, "Hostile.md": f"# Hostile\n\nzirconium {HOSTILE}\n"})
    where.tune("[index]\nmax_note_seconds = 0.2\n")
    with opened(where, processes=True) as service:
        (skipped,) = service.status().skipped
        assert (skipped.path, skipped.reason) == ("Hostile.md", f"set aside: {REASON}")
        assert service.status().counts.notes == len(NOTES)
        assert hits(service, "fan")[0].path == "Oven.md"
        assert service.verify(repair=False) == (Problem("vault", "set aside", REASON, "Hostile.md"),)
    clock = Clock()
    with closing(VaultSync(Assembly.of(where.target()), live=False)) as vault_sync:
        assert vault_sync.open_current() == ()
        vault_sync.dirty.aside = Quarantine(clock)
        vault_sync.dirty.aside.use(vault_sync.quarantine())
        retry = Upkeep(vault_sync, [QuarantineRetry(vault_sync)])
        where.write("Hostile.md", "# Tame\n\nzirconium\n")  # nobody watches
        retry.step(is_idle=True)
        clock.now += 2
        retry.step(is_idle=False)
        assert (retry.doing, [*vault_sync.quarantine()]) == (None, ["Hostile.md"])

        def is_read() -> bool:
            retry.step(is_idle=True)
            return not vault_sync.quarantine()

        wait_for(is_read)
        assert vault_sync.current is not None
        with vault_sync.current.writer.holder.lease() as snapshot:
            assert snapshot.catalog.note("Hostile.md") is not None
        assert vault_sync.verify(repair=False) == ()
