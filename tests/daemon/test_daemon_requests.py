"""Whatever becomes of a request to the loop, whoever waits for it is answered."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from loop_by_hand import LoopByHand, loop_by_hand
from vault_at_work import Place, opened, place

from vault_indexer.daemon.loop_request import BuildRequest, CheckRequest
from vault_indexer.errors import UnavailableError
from vault_indexer.model import Progress


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Place:
    made = place(tmp_path_factory.mktemp("built"))
    with opened(made):
        pass
    return made


@pytest.fixture
def kept(built: Place, tmp_path: Path) -> Iterator[LoopByHand]:
    shutil.copytree(built.vault.parent, tmp_path, dirs_exist_ok=True)
    with loop_by_hand(Place(tmp_path / "vault", tmp_path / "index", tmp_path / "config.toml")) as made:
        yield made


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


@pytest.mark.parametrize("request_type", [BuildRequest, CheckRequest])
def test_a_request_is_refused_whether_it_comes_before_or_after_the_end(
    kept: LoopByHand, request_type: type[BuildRequest | CheckRequest]
) -> None:
    before, after = request_type(), request_type()
    kept.loop.request(before)
    kept.loop.stop()
    kept.loop.run()
    kept.loop.request(after)
    for request in (before, after):
        with pytest.raises(UnavailableError, match="stopped"):
            request.answer.result(timeout=0)
