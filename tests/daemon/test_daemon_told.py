"""What a daemon says of itself while it is paused, and while changes make no progress."""

import re
import threading
from dataclasses import replace
from typing import cast

import pytest
from loop_by_hand import Clock, Faults, FaultyPool
from reliability_lab import ModelDownPool, in_one_process, is_slow, pools_of
from vault_at_work import Place, daemon, holding, silent, stop, wait_for
from waiting import DEADLINE_S

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.session import DaemonSession
from vault_indexer.errors import UnavailableError
from vault_indexer.index.jobs import Pool
from vault_indexer.index.note_workers import WorkerSpec
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService


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
