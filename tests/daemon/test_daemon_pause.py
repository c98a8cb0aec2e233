"""What a daemon says of itself while it is paused, and while changes make no progress."""

import re
import threading
import time
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import cast

import pytest
from loop_by_hand import Clock, Faults, FaultyPool
from reliability_lab import ModelDownPool, in_one_process, is_slow, pools_of
from vault_at_work import Place, daemon, holding, place, silent, stop, wait_for
from waiting import DEADLINE_S

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.session import DaemonSession
from vault_indexer.errors import UnavailableError, UsageError
from vault_indexer.index.jobs import Pool
from vault_indexer.index.note_workers import WorkerSpec
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
        where.write("Two.md", "Contains niobium.\n")
        wait_for(lambda: service.status().pending == 2)
        assert notices(service) == (f"{paused}: 2 changes are not indexed yet",)
        told = service.pause(3600.0)
        assert told.paused_until.endswith("Z")
        (notice,) = notices(service)  # the end counts from a clock of its own: a second more or less
        until = re.fullmatch(r"indexing is paused until (\S+Z): 2 changes are not indexed yet", notice)
        assert until is not None
        assert until[1][:13] == told.paused_until[:13]
        answer = service.search(SearchRequest("bread", fresh=True), fresh_deadline_s=2 * DEADLINE_S)
        assert answer.notices[0] == "results may be out of date: indexing is paused"
        assert holding(service, "scandium") == set()
        for ask in (
            lambda: service.rebuild(silent),
            lambda: service.verify(),
            lambda: service.verify(repair=True),
        ):
            with pytest.raises(UnavailableError, match="indexing is paused: run `indexer resume`"):
                ask()
        service.resume()
        wait_for(lambda: is_up_to_date(service))
        assert holding(service, "scandium") == {"One.md"}
        assert (service.status().paused, notices(service)) == (False, ())


def test_changes_that_make_no_progress_for_a_minute_are_said_with_what_they_wait_for(where: Place) -> None:
    clock, faults = Clock(), Faults()
    held, released = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        released.wait()

    def make_pool(worker: WorkerSpec, size: int) -> Pool:
        del size
        return cast(Pool, FaultyPool(worker, faults, clock))

    service = VaultService(DaemonSession(replace(Assembly.of(where.target()), make_pool=make_pool), clock))
    try:
        wait_for(lambda: is_up_to_date(service))
        faults.meanwhile = hold
        where.write("Stuck.md", "Contains lutetium.\n")
        wait_for(held.is_set)
        clock.now += 59.0
        assert (service.status().pending, service.status().detail) == (1, "")
        clock.now += 1.0
        said = "1 change pending for 60 s without progress: waiting for a worker process that does not answer"
        assert (service.status().detail, notices(service)) == (said, (said,))
        service.pause()
        assert service.status().detail == ""
        service.resume()
        assert service.status().detail == said
        released.set()
        wait_for(lambda: is_up_to_date(service))
        assert (holding(service, "lutetium"), service.status().detail) == ({"Stuck.md"}, "")
    finally:
        released.set()
        stop(service)


def test_chunks_without_vectors_are_said_as_long_as_there_are_any(where: Place) -> None:
    for number in range(40):  # so many are found before they have vectors
        where.write(f"Part {number}.md", f"Rye, spelt and sourdough of the day {number}.")
    assembly = replace(in_one_process(where.target()), is_slow=is_slow, make_pool=pools_of(ModelDownPool))
    service = VaultService(DaemonSession(assembly))
    try:
        wait_for(lambda: holding(service, "spelt"))
        assert any(one.startswith("semantic search is incomplete: ") for one in notices(service))
    finally:
        stop(service)


MANY = 400


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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
