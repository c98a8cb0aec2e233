"""Whatever becomes of a request to the loop, whoever waits for it is answered."""

import pytest
from loop_by_hand import LoopByHand

from vault_indexer.daemon.tasks.rebuild import BuildRequest, CheckRequest, LoopRequest, RequestQueue
from vault_indexer.errors import UnavailableError
from vault_indexer.model import Progress


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
