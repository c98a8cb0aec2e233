"""The daemon's loop, step by step: what pending changes wait for, deletions, workers at rest, checks."""

from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest
from loop_by_hand import LoopByHand
from waiting import DEADLINE_S, wait_until

from vault_indexer.daemon.tasks.rebuild import BuildRequest, CheckRequest, LoopRequest, RequestQueue
from vault_indexer.errors import UnavailableError, UsageError
from vault_indexer.model import Problem, Progress
from vault_indexer.service import IndexSession, VaultService

HOLD_S = 2.0
"""The default of `watch.delete_hold_s`."""


def test_a_deletion_is_held_and_then_carried_out(kept: LoopByHand) -> None:
    kept.save("Cerium.md", "Contains cerium.\n")
    kept.run(1.0)
    assert kept.holding("cerium") == {"Cerium.md"}
    kept.delete("Cerium.md")
    kept.run(1.0)
    assert (kept.loop.pending(), kept.holding("cerium")) == (1, {"Cerium.md"})
    assert kept.loop.state.waits_for == "1 deletion held back, in case the files come back"
    assert not kept.loop.state.is_indexing
    kept.run(HOLD_S)
    assert (kept.loop.pending(), kept.holding("cerium")) == (0, set())
    assert kept.loop.state.waits_for == "files that are still being written"


def test_workers_end_where_no_edit_has_come_for_long(kept: LoopByHand) -> None:
    kept.save("Cerium.md", "Contains cerium.\n")
    kept.run(1.0)
    pool = kept.current.writer.pool  # the loop tells nobody
    working = [pool.has_workers]
    for seconds in (280.0, 40.0):
        kept.run(seconds, tick_s=20.0)
        working.append(pool.has_workers)
    kept.save("Holmium.md", "Contains holmium.\n")
    kept.run(1.0)
    assert kept.holding("holmium") == {"Holmium.md"}
    assert [*working, pool.has_workers] == [True, True, False, True]


def test_a_worker_that_does_not_answer_for_a_minute_is_said_while_its_job_runs(kept: LoopByHand) -> None:
    said: list[str] = []

    def hang() -> None:
        kept.clock.now += 60.0
        said.append(kept.loop.state.detail)

    kept.faults.meanwhile = hang
    kept.save("Stuck.md", "Contains lutetium.\n")
    kept.run(1.0)
    assert said[0].startswith("1 change pending for 60 s without progress")
    assert said[0].endswith(": waiting for a worker process that does not answer")
    assert (kept.holding("lutetium"), kept.loop.state.detail) == ({"Stuck.md"}, "")


def test_a_check_is_answered_between_two_steps(kept: LoopByHand) -> None:
    heard: list[Progress] = []
    kept.where.write("Unseen.md", "Contains cerium.\n")
    found = CheckRequest(repair=False, report=heard.append)
    kept.loop.request(found)
    kept.loop.step()
    assert found.answer.result(0) == (
        Problem("vault", "missing", "in the vault, not in the index", "Unseen.md"),
    )
    assert heard and heard[-1].notes == heard[-1].total
    repaired = CheckRequest(repair=True, report=heard.append)
    kept.loop.request(repaired)
    kept.loop.step()
    assert len(repaired.answer.result(0)) == 1
    assert kept.holding("cerium") == {"Unseen.md"}


def test_while_indexing_is_paused_nobody_waits_for_a_scan_nor_asks_for_one(kept: LoopByHand) -> None:
    kept.where.write("Unseen.md", "Contains cerium.\n")
    kept.loop.pause(None)
    assert not kept.loop.wait_for_scan(0.0)
    kept.loop.resume()
    kept.run(1.0)
    assert kept.holding("cerium") == set()
    assert not kept.loop.wait_for_scan(0.0), "it takes longer than that"
    kept.run(1.0)
    assert kept.holding("cerium") == {"Unseen.md"}


def test_whoever_waits_for_a_scan_does_not_wait_for_the_end_of_a_pause(kept: LoopByHand) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(kept.loop.wait_for_scan, 2 * DEADLINE_S)
        wait_until(kept.loop.pending)
        kept.loop.pause(None)
        assert waiting.result(DEADLINE_S) is False


def test_stopping_does_not_wait_for_the_end_of_a_pause(kept: LoopByHand) -> None:
    asked = CheckRequest()
    kept.loop.pause(None)
    kept.loop.request(asked)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(kept.loop.run)
        assert isinstance(asked.answer.exception(DEADLINE_S), UnavailableError), "indexing rests"
        kept.loop.stop()
        running.result(DEADLINE_S)


def test_of_many_saved_notes_the_last_ones_are_indexed_first(kept: LoopByHand) -> None:
    seen: set[tuple[bool, bool]] = set()
    kept.faults.meanwhile = lambda: seen.add(
        (kept.indexed_text("0.md") is not None, kept.indexed_text("99.md") is not None)
    )
    for number in range(100):
        kept.save(f"{number}.md", f"Number {number}.\n")
    kept.run(1.0)
    assert {(False, False), (False, True)} <= seen
    assert kept.indexed_text("0.md") == "Number 0.\n"


def test_a_check_that_ends_in_an_unforeseen_way_is_answered_and_so_is_the_next(kept: LoopByHand) -> None:
    def fail(_progress: Progress) -> None:
        raise RuntimeError("unforeseen")

    failing, next_one = CheckRequest(fail), CheckRequest()
    kept.loop.request(failing)
    kept.loop.request(next_one)
    kept.run(1.0)
    with pytest.raises(RuntimeError, match="unforeseen"):
        failing.answer.result(timeout=0)
    assert next_one.answer.result(timeout=0) == ()


def test_requests_are_taken_in_the_order_in_which_they_came() -> None:
    queue = RequestQueue()
    requests: list[LoopRequest] = [CheckRequest(), BuildRequest(), CheckRequest()]
    for request in requests:
        queue.put(request)
    assert [queue.take() for _ in range(4)] == [*requests, None]


def test_a_check_behind_a_build_is_answered_before_it_is_done(kept: LoopByHand) -> None:
    build, check = BuildRequest(), CheckRequest()
    kept.loop.request(build)
    kept.loop.request(check)
    kept.loop.step()
    assert check.answer.result(timeout=0) == ()
    assert not build.answer.done()


@pytest.mark.parametrize("request_type", [BuildRequest, CheckRequest])
def test_a_request_is_refused_whether_it_comes_before_or_after_the_end(
    kept: LoopByHand, request_type: type[BuildRequest | CheckRequest]
) -> None:
    before, after = request_type(), request_type()
    kept.loop.request(before)
    kept.loop.stop()
    kept.loop.run()
    kept.loop.request(after)
    assert not kept.loop.wait_for_scan(1.0)
    for request in (before, after):
        with pytest.raises(UnavailableError, match="stopped"):
            request.answer.result(timeout=0)


@pytest.mark.parametrize("seconds", [0.0, -1.0, 8 * 86_400.0, float("nan"), float("inf")])
def test_a_pause_has_a_sensible_length(seconds: float) -> None:
    with pytest.raises(UsageError, match="a pause of"):
        VaultService(cast("IndexSession", None)).pause(seconds)
