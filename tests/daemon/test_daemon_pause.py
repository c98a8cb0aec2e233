"""A pause at the user's word: nothing is indexed, nothing is lost, searches go on and say so."""

import time
from functools import partial
from pathlib import Path
from threading import Event
from typing import cast

import pytest
from vault_at_work import Place, daemon, holding, place, silent, wait_for
from waiting import DEADLINE_S

from vault_indexer.errors import UnavailableError, UsageError
from vault_indexer.model import SearchRequest
from vault_indexer.service import IndexSession, VaultService


def notices(service: VaultService) -> tuple[str, ...]:
    return service.search(SearchRequest("bread")).notices


def is_up_to_date(service: VaultService) -> bool:
    return service.status().state == "ready" and not service.status().pending


@pytest.mark.long
def test_a_pause_is_said_with_its_end_and_with_what_waits(where: Place) -> None:
    with daemon(where) as service:
        wait_for(lambda: is_up_to_date(service))
        assert notices(service) == ()
        told = service.pause()
        assert (told.state, told.paused, told.paused_until) == ("paused", True, "")
        paused = "indexing is paused until `indexer resume`"
        assert notices(service) == (paused,)
        where.write("One.md", "Contains scandium.\n")
        wait_for(lambda: service.status().pending == 1)
        assert notices(service) == (f"{paused}: 1 change is not indexed yet",)
        told = service.pause(3600.0)
        (notice,) = notices(service)  # the end counts from a clock of its own: a second more or less
        assert notice.startswith(f"indexing is paused until {told.paused_until[:13]}")
        assert notice.endswith("Z: 1 change is not indexed yet")
        answer = service.search(SearchRequest("bread", fresh=True), fresh_deadline_s=2 * DEADLINE_S)
        assert answer.notices[0] == "results may be out of date: indexing is paused"
        assert holding(service, "scandium") == set()
        for ask in (partial(service.rebuild, silent), service.verify, partial(service.verify, repair=True)):
            with pytest.raises(UnavailableError, match="indexing is paused: run `indexer resume`"):
                ask()
        service.resume()
        wait_for(lambda: is_up_to_date(service))
        assert holding(service, "scandium") == {"One.md"}
        assert (service.status().paused, notices(service)) == (False, ())


@pytest.mark.parametrize("seconds", [0.0, -1.0, 8 * 86_400.0, float("nan"), float("inf")])
def test_a_pause_has_a_sensible_length(seconds: float) -> None:
    with pytest.raises(UsageError, match="a pause of"):
        VaultService(cast("IndexSession", None)).pause(seconds)


@pytest.mark.long
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
