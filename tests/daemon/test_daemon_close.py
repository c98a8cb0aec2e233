"""What `close` leaves: a free lock, whatever was under way, and one clear line for each later request."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from vault_at_work import StartedProcesses, daemon, hits, is_free, place, silent, wait_for

from vault_indexer.errors import UnavailableError
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long


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
