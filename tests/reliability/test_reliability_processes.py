"""Several processes at one index: one writes, the others are told who, and read without harm."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from reliability_lab import (
    OPTIONS,
    assembly_of,
    assert_equal,
    in_process_pool,
    make_vault,
    opened,
    sized,
    told_by,
    told_by_a_fresh_build,
    unheard,
    wait_until,
)

from vault_indexer.bootstrap import open_daemon, open_index, resolve_target
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.assembly import Assembly, Target
from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.daemon.session import DaemonSession
from vault_indexer.errors import LockedError, UnavailableError
from vault_indexer.index.build import Pool
from vault_indexer.index.jobs import Job, Outcome, PrepareJob
from vault_indexer.index.note_workers import WorkerSpec
from vault_indexer.index.workers.job import Died
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService
from vault_indexer.vault.read import read_note

pytestmark = pytest.mark.slow


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault", random.Random(14), 40)


@pytest.fixture
def target(vault: Path, tmp_path: Path) -> Target:
    return resolve_target(vault, tmp_path / "index", None, environ={}, options=OPTIONS)


def is_ready(session: DaemonSession) -> bool:
    status = session.status()
    return status.state == "ready" and not status.pending


@pytest.fixture
def daemon(target: Target) -> Iterator[DaemonSession]:
    session = DaemonSession(Assembly.of(target))
    try:
        wait_until(lambda: is_ready(session), 120, "ready")
        yield session
    finally:
        session.close()


def cli_search(vault: Path, index: Path, query: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "vault_indexer.cli", "search", query, "--json"]
    command += ["--vault", str(vault), "--index-dir", str(index)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ))


def test_a_second_daemon_says_who_holds_the_index(daemon: DaemonSession, target: Target) -> None:
    with pytest.raises(LockedError, match=rf"in use by process {os.getpid()} \(the daemon\)"):
        open_daemon(target)
    assert is_ready(daemon)


def test_ten_searches_a_rebuild_and_edits_at_once(
    daemon: DaemonSession, vault: Path, target: Target, tmp_path: Path
) -> None:
    rebuilding = threading.Thread(target=lambda: daemon.rebuild(unheard, RebuildOptions(refit=False)))
    rebuilding.start()
    searches = [cli_search(vault, tmp_path / "index", "kestrel") for _ in range(10)]
    for number in range(10):
        (vault / f"meanwhile {number}.md").write_text(f"# Meanwhile {number}\n\nkestrel\n")
    for search in searches:
        out, err = search.communicate(timeout=600)
        assert search.returncode == 0, err.decode()
        assert json.loads(out)["results"]
    rebuilding.join(600)
    wait_until(lambda: is_ready(daemon) and daemon.status().counts.notes == 50, 60, "all is in")
    assert daemon.status().generation == 2
    found = told_by(daemon)
    assert daemon.verify(repair=False) == ()
    assert_equal(found, told_by_a_fresh_build(vault, tmp_path / "fresh"))


def test_a_command_beside_the_daemon_reads_and_may_not_write(daemon: DaemonSession, target: Target) -> None:
    service = open_index(target, unheard)
    try:
        answer = service.search(SearchRequest("kestrel"))
        assert answer.results
        assert any("in use by process" in notice for notice in answer.notices)
        for forbidden in (lambda: service.rebuild(unheard), lambda: service.verify(repair=True)):
            with pytest.raises(UnavailableError, match="in use by process"):
                forbidden()
    finally:
        service.close()


def test_the_lock_of_a_killed_process_is_taken_over(vault: Path, target: Target, tmp_path: Path) -> None:
    code = (
        "import sys, threading; from pathlib import Path; from vault_indexer.daemon.lock import IndexLock\n"
        "root = Path(sys.argv[1]); root.mkdir(parents=True, exist_ok=True)\n"
        "lock = IndexLock(root, 'the daemon'); lock.acquire(); print('held', flush=True)\n"
        "threading.Event().wait()"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "index")], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(LockedError, match=f"process {holder.pid}"):
        open_daemon(target)
    holder.kill()
    holder.wait()
    open_daemon(target).close()


def test_two_hundred_searches_a_second_do_not_stop_indexing(daemon: DaemonSession, vault: Path) -> None:
    service, stop, asked = VaultService(daemon), threading.Event(), [0]

    def ask() -> None:
        while not stop.wait(0.005):
            service.search(SearchRequest("kestrel raven"))
            asked[0] += 1

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for number in range(sized(5, 40)):
            (vault / "busy.md").write_text(f"# Busy\n\nbusy{number} kestrel\n")
            word = f"busy{number}"
            wait_until(partial(_holds, daemon, word), 30, f"edit {number} is found")
        wait_until(lambda: asked[0] > 50, 30, "the searches go on")
    finally:
        stop.set()
        asking.join()


def _holds(session: DaemonSession | LocalSession, word: str) -> bool:
    with session.reader().holder.lease() as snapshot:
        return len(snapshot.keywords.keys_containing([word])) > 0


def test_the_log_and_the_segments_stay_small_over_many_edits(vault: Path, tmp_path: Path) -> None:
    """What a day's edits leave: bounded files, one snapshot, as many chunks as before."""
    index = tmp_path / "index"
    with opened(assembly_of(vault, index)) as session:
        sizes = []
        for number in range(sized(150, 1500)):
            note = vault / f"day {number % 7}.md"
            note.write_text(
                f"# Day\n\nedit {number} of kestrel " + "umber " * (number % 50), encoding="utf-8"
            )
            session.wait_fresh(0)
            sizes.append(sum(path.stat().st_size for path in index.rglob("*") if path.is_file()))
        assert session.status().counts.notes == 47
        assert max(sizes) < sizes[0] + (12 << 20)
        assert session.verify(repair=False) == ()


def test_a_restart_with_nothing_changed_reads_no_note(vault: Path, tmp_path: Path) -> None:
    with opened(assembly_of(vault, tmp_path / "index")) as session:
        seq = session.status().seq
    # Notes younger than two seconds at the last look are read again once: let them be older.
    for path in vault.rglob("*.md"):
        os.utime(path, ns=(1, 1))
    with opened(assembly_of(vault, tmp_path / "index")) as session:
        touched = session.status().seq
        assert touched <= seq + 1
    wait_until(lambda: _is_old(vault), 10, "the change of the times is two seconds old")
    with opened(assembly_of(vault, tmp_path / "index")) as session:
        settled = session.status().seq
    reads: list[str] = []

    def counting_pool(worker: WorkerSpec, size: int) -> Pool:
        return cast(Pool, CountingPool(in_process_pool(worker, size), reads))

    counting = replace(assembly_of(vault, tmp_path / "index"), make_pool=counting_pool)
    with opened(counting) as session:
        assert session.status().seq == settled
        assert reads == []
        (vault / "new.md").write_text("# New\n")
        session.wait_fresh(0)
        assert reads == ["new.md"]
    # An edit while nobody watched is found.
    (vault / "new.md").write_text("# Newer\n\nunwatched\n")
    with opened(assembly_of(vault, tmp_path / "index")) as session:
        assert _holds(session, "unwatched")


def _is_old(vault: Path) -> bool:
    return all(time.time_ns() - path.stat().st_ctime_ns > 2_100_000_000 for path in vault.rglob("*.md"))


class CountingPool:
    """Notes which files a pool is asked to read."""

    def __init__(self, pool: Pool, reads: list[str]) -> None:
        self._pool, self._reads = pool, reads
        self.each, self.close = pool.each, pool.close

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome | Died]]:
        every = list(jobs)
        for job in every:
            if isinstance(job, PrepareJob):
                self._reads.extend(job.paths)
        return self._pool.run(every)


def git(vault: Path, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.fsync=none"]
    subprocess.run(["git", *identity, *words], cwd=vault, check=True, capture_output=True)


@pytest.mark.skipif(subprocess.call(["which", "git"], stdout=subprocess.DEVNULL) != 0, reason="no git")
def test_git_checkout_of_thousands_of_notes(tmp_path: Path) -> None:
    """Right within 30 s of its end, for 2,000 notes in full size."""
    count = sized(300, 2000)
    vault = tmp_path / "vault"
    vault.mkdir()
    git(vault, "init", "-q")
    for branch in ("one", "two"):
        for number in range(count):
            place = vault / f"{number % 40}" / f"note {number}.md"
            if branch == "two" and number % 10 == 0:
                place.unlink()
            else:
                place.parent.mkdir(exist_ok=True)
                place.write_text(f"# {branch} {number}\n\n{branch} of kestrel [[note {number + 1}]]\n")
        git(vault, "checkout", "-qb", branch)
        git(vault, "add", "-A")
        git(vault, "commit", "-qm", branch)
    target = resolve_target(vault, tmp_path / "index", None, environ={}, options=OPTIONS)
    session = DaemonSession(Assembly.of(target))
    try:
        wait_until(lambda: is_ready(session) and session.status().counts.notes > 0, 300, "ready")
        git(vault, "checkout", "-q", "one")
        wait_until(lambda: is_ready(session) and session.status().counts.notes == count, 30, "one is indexed")
        git(vault, "checkout", "-q", "two")
        expected = count - (count + 9) // 10
        wait_until(
            lambda: is_ready(session) and session.status().counts.notes == expected, 30, "two is indexed"
        )
        with session.reader().holder.lease() as snapshot:
            assert {row.path: row.digest for row in snapshot.catalog.files()} == {
                str(path.relative_to(vault)): read_note(vault, str(path.relative_to(vault)), 1 << 20).sha256
                for path in vault.rglob("*.md")
            }
        assert session.verify(repair=False) == ()
    finally:
        session.close()
