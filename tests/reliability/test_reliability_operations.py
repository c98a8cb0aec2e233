"""Paranoid mode: after any history of the vault the index equals a fresh build, byte for byte."""

import random
import time
from functools import partial
from pathlib import Path

import pytest
from file_operations import do_one
from reliability_lab import OPTIONS, assert_equal, make_vault, sized, told_by, told_by_a_fresh_build
from waiting import wait_until

from vault_indexer.bootstrap import resolve_target
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.session import DaemonSession

pytestmark = pytest.mark.slow


def is_settled(session: DaemonSession) -> bool:
    status = session.status()
    return status.state == "ready" and not status.pending


def _soon(rng: random.Random) -> float:
    return time.monotonic() + rng.random() * 3


def _moved_on(session: DaemonSession, seq: int, until: float) -> bool:
    return session.status().seq > seq or time.monotonic() > until


def settle(session: DaemonSession) -> None:
    """The daemon has looked at everything there is and holds nothing back."""
    wait_until(lambda: is_settled(session), "the daemon is idle")
    assert session.wait_fresh(90)
    wait_until(lambda: is_settled(session), "the daemon is idle again")


def test_random_operations_under_the_daemon(tmp_path: Path) -> None:
    rng = random.Random(20_260)
    vault = make_vault(tmp_path / "vault", rng, 60)
    target = resolve_target(vault, tmp_path / "index", None, environ={}, options=OPTIONS)
    session = DaemonSession(Assembly.of(target))
    done: list[str] = []
    try:
        wait_until(lambda: is_settled(session), "the first build")
        total = sized(150, 1000)
        while len(done) < total:
            for _ in range(rng.randint(1, 25)):
                done.append(do_one(vault, rng))
            # Sometimes the daemon gets to index in between, sometimes more happens while it does.
            if rng.random() < 0.6:
                wait_until(
                    partial(_moved_on, session, session.status().seq, _soon(rng)), "a commit or a while"
                )
        settle(session)
        found = told_by(session)
        problems = session.verify(repair=False)
    finally:
        session.close()
    assert len(done) >= total
    assert_equal(found, told_by_a_fresh_build(vault, tmp_path / "fresh"))
    assert problems == ()
