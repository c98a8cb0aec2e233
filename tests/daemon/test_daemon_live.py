"""What happens in the vault shows in searches, with nobody doing anything."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from vault_at_work import StartedProcesses, daemon, hits, holding, is_free, opened, place, silent, wait_for
from waiting import DEADLINE_S

from vault_indexer.errors import LockedError, UnavailableError
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long


def test_what_a_start_finds_is_pending_until_it_is_in(tmp_path: Path) -> None:
    """Else `status` would say ready and nothing pending while the first look is under way."""
    where = place(tmp_path)
    with opened(where):
        pass
    where.write("Unseen.md", "Written while no daemon ran: promethium.\n")
    (where.vault / "Bread.md").unlink()
    with daemon(where, ready=False) as service:
        # No pause between two looks: a moment of "ready" before the first look at the vault counts.
        deadline = time.monotonic() + DEADLINE_S
        while (status := service.status()).state != "ready" or status.pending:
            assert time.monotonic() < deadline
        assert holding(service, "promethium") == {"Unseen.md"}
        wait_for(lambda: not holding(service, "dough"))


def test_saves_renames_and_deletions_show(tmp_path: Path) -> None:
    where = place(tmp_path)
    with daemon(where) as service:

        def shows(word: str, *paths: str) -> None:
            wait_for(lambda: holding(service, word) == {*paths})

        where.write("New/Edited.md", "The first word was zirconium.\n")
        where.write("Source.md", "See [[Renamed target]].\n")
        shows("zirconium", "New/Edited.md")
        where.write("New/Edited.md", "The second word is vanadium.\n")
        shows("vanadium", "New/Edited.md")
        assert holding(service, "zirconium") == set()

        (where.vault / ".Saved.tmp").write_text("By write and rename: praseodymium.\n")
        (where.vault / ".Saved.tmp").replace(where.vault / "New/Edited.md")
        shows("praseodymium", "New/Edited.md")

        assert [link.resolved for link in service.links("Source").outgoing] == [None]
        (where.vault / "New/Edited.md").rename(where.vault / "Renamed target.md")
        shows("praseodymium", "Renamed target.md")
        assert [link.resolved for link in service.links("Source").outgoing] == ["Renamed target.md"]
        assert [link.path for link in service.links("Renamed target").backlinks] == ["Source.md"]
        (where.vault / "Renamed target.md").unlink()
        shows("praseodymium")

        where.write("Fresh.md", "Contains dysprosium.\n")
        answer = service.search(SearchRequest("dysprosium", fresh=True), fresh_deadline_s=DEADLINE_S)
        assert "Fresh.md" in [hit.path for hit in answer.results]

        (where.vault / "Bad.md").write_bytes(b"caf\xe9 with holmium\n")
        wait_for(lambda: service.status().skipped)
        (skipped,) = service.status().skipped
        assert skipped.path == "Bad.md"
        assert skipped.reason.startswith("line 1: some bytes are not UTF-8"), "the path is not said twice"
        where.write("Bad.md", "café with holmium\n")
        shows("holmium", "Bad.md")
        wait_for(lambda: not service.status().skipped)

        with pytest.raises(LockedError, match=r"in use by process \d+ \(the daemon\)"), daemon(where):
            pass


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found in /proc")
def test_the_lock_is_free_though_an_edit_waits_for_its_worker(tmp_path: Path) -> None:
    where, started = place(tmp_path), StartedProcesses()
    with daemon(where, processes=True) as service:
        where.write("First.md", "Contains cerium.\n")
        wait_for(lambda: [hit.path for hit in hits(service, "cerium")][:1] == ["First.md"])
        wait_for(lambda: not service.status().pending)
        wait_for(lambda: not service.status().vectors_owed)
        for pid in started():
            os.kill(pid, signal.SIGSTOP)
        where.write("Stuck.md", "Contains holmium.\n")
        wait_for(lambda: service.status().pending)
        service.close()
        wait_for(lambda: is_free(where.index_dir))
        assert not started()


REQUESTS: dict[str, Callable[[VaultService], object]] = {
    "rebuild": lambda service: service.rebuild(silent),
    "verify": lambda service: service.verify(),
    "search": lambda service: hits(service, "bread"),
}


def test_requests_after_close_are_refused_at_once(tmp_path: Path) -> None:
    where = place(tmp_path)
    with daemon(where) as service:
        service.close()
        assert is_free(where.index_dir), "a loop that has nothing to do ends at once"
        for request in REQUESTS.values():
            with pytest.raises(UnavailableError, match=r"^the daemon was stopped$"):
                request(service)
        assert not service.wait_fresh(3600)
