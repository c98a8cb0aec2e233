"""A pause at the user's word: nothing is indexed, nothing is lost, searches go on and say so."""

import time
from pathlib import Path
from threading import Event, Thread
from typing import cast

import pytest
from vault_at_work import daemon, holding, place, wait_for
from waiting import DEADLINE_S

from vault_indexer.errors import UnavailableError, UsageError
from vault_indexer.model import SearchRequest
from vault_indexer.service import IndexSession, VaultService

pytestmark = pytest.mark.long

MANY = 400


def test_a_search_that_waits_for_freshness_does_not_wait_for_the_end_of_a_pause(tmp_path: Path) -> None:
    where = place(tmp_path, {f"{n}.md": f"# {n}\n\nThulium {n}.\n" for n in range(MANY)})
    with daemon(where) as service:
        for n in range(MANY):
            where.write(f"{n}.md", f"# {n}\n\nErbium {n}.\n")
        asking = Thread(
            target=lambda: service.search(
                SearchRequest("erbium", fresh=True), fresh_deadline_s=2 * DEADLINE_S
            )
        )
        asking.start()
        service.pause()
        asking.join(DEADLINE_S)
        assert not asking.is_alive()
        # The batch holds where it is; what is left of it is counted, and done on resume.
        wait_for(lambda: service.status().pending > 0)
        service.resume()
        wait_for(lambda: service.status().state == "ready" and not service.status().pending)
        assert service.verify() == ()


@pytest.mark.parametrize("seconds", [0.0, -1.0, 8 * 86_400.0, float("nan"), float("inf")])
def test_a_pause_has_a_sensible_length(seconds: float) -> None:
    with pytest.raises(UsageError, match="a pause of"):
        VaultService(cast("IndexSession", None)).pause(seconds)


def test_a_build_under_way_rests_and_goes_on_where_it_stood(tmp_path: Path) -> None:
    """The first build of a vault, which nothing has embedded yet."""
    where = place(tmp_path, {f"{n}.md": f"# Note {n}\n\n" + f"word{n} kiln. " * 200 for n in range(600)})
    with daemon(where, ready=False) as service:
        wait_for(lambda: (service.status().progress or None) is not None)
        service.pause()
        wait_for(lambda: service.status().state == "paused")
        seen = -1
        # The workers end the batch they are in; then nothing moves.
        still = time.monotonic() + 2.0
        while time.monotonic() < still:
            progress = service.status().progress
            assert progress is not None, "the build must not end in a pause"
            if progress.notes != seen:
                seen, still = progress.notes, time.monotonic() + 2.0
            Event().wait(0.05)
        assert seen < 600
        with pytest.raises(UnavailableError, match="paused"):
            service.search(SearchRequest("kiln"))
        service.resume()
        wait_for(lambda: service.status().state == "ready")
        assert service.status().counts.notes == 600
        assert service.status().generation == 1


def test_stopping_does_not_wait_for_the_end_of_a_pause(tmp_path: Path) -> None:
    where = place(tmp_path)
    with daemon(where) as service:
        service.pause()
        where.write("Unseen.md", "Contains osmium.\n")
        closing = Thread(target=service.close)
        closing.start()
        closing.join(DEADLINE_S)
        assert not closing.is_alive()
    with daemon(where) as service:  # and the next one does not begin in one
        assert not service.status().paused
        wait_for(lambda: holding(service, "osmium") == {"Unseen.md"})
