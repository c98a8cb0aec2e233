"""A pause at the user's word: nothing is indexed, nothing is lost, searches go on and say so."""

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest
from vault_at_work import Place, daemon, holding, paths, place, wait_for
from waiting import DEADLINE_S

from vault_indexer.errors import UnavailableError, UsageError
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long

MANY = 400


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return place(tmp_path_factory.mktemp("paused"))


@pytest.fixture(scope="module")
def running(where: Place) -> Iterator[VaultService]:
    with daemon(where) as service:
        yield service


@pytest.fixture
def service(running: VaultService) -> Iterator[VaultService]:
    yield running
    running.resume()


def notices(service: VaultService, query: str = "bread") -> str:
    return "; ".join(service.search(SearchRequest(query)).notices)


def test_what_changes_meanwhile_waits_and_is_indexed_on_resume(where: Place, service: VaultService) -> None:
    seq = service.status().seq
    told = service.pause()
    assert (told.paused, told.state, told.paused_until) == (True, "paused", "")
    where.write("One.md", "Contains scandium.\n")
    where.write("Two.md", "Contains niobium.\n")
    wait_for(lambda: service.status().pending == 2)
    assert "indexing is paused until `indexer resume`: 2 changes are not indexed yet" in notices(service)
    assert paths(service, "E-417")[0] == "Oven.md"
    # Longer than a change waits at most, so that a loop that went on would have indexed it.
    Event().wait(6.0)
    assert (service.status().seq, service.status().pending) == (seq, 2)
    assert holding(service, "scandium") == set()

    service.resume()
    wait_for(lambda: holding(service, "scandium") == {"One.md"} and holding(service, "niobium") == {"Two.md"})
    wait_for(lambda: service.status().state == "ready")
    assert "paused" not in notices(service)


def test_a_fresh_search_says_at_once_that_it_is_not(where: Place, service: VaultService) -> None:
    service.pause()
    began = time.monotonic()
    answer = service.search(SearchRequest("bread", fresh=True), fresh_deadline_s=2 * DEADLINE_S)
    assert time.monotonic() - began < DEADLINE_S
    assert "out of date" in answer.notices[0] and "paused" in answer.notices[0]
    service.resume()
    where.write("Fresh.md", "Contains hafnium.\n")
    again = service.search(SearchRequest("hafnium", fresh=True), fresh_deadline_s=DEADLINE_S)
    assert "Fresh.md" in [hit.path for hit in again.results]


def test_a_search_that_waits_for_freshness_does_not_wait_for_the_end_of_a_pause(
    where: Place, tmp_path: Path
) -> None:
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


def test_a_pause_with_an_end_ends(where: Place, service: VaultService) -> None:
    told = service.pause(5.0)
    assert told.paused and told.paused_until.endswith("Z")
    where.write("Later.md", "Contains rhenium.\n")
    wait_for(lambda: holding(service, "rhenium") == {"Later.md"})
    assert not service.status().paused


@pytest.mark.parametrize("seconds", [0.0, -1.0, 8 * 86_400.0, float("nan"), float("inf")])
def test_a_pause_has_a_sensible_length(service: VaultService, seconds: float) -> None:
    with pytest.raises(UsageError, match="a pause of"):
        service.pause(seconds)
    assert not service.status().paused


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
