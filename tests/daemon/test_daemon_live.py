"""The daemon as others see it: searches show the vault, faults and pauses are said, a stop frees the lock."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from vault_at_work import (
    WORDLLAMA,
    Place,
    StartedProcesses,
    daemon,
    hits,
    holding,
    is_free,
    opened,
    place,
    silent,
    stop,
    wait_for,
)
from waiting import DEADLINE_S

from vault_indexer.bootstrap import open_daemon
from vault_indexer.errors import IndexUnusableError, LockedError, UnavailableError
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long


def test_what_a_start_finds_is_pending_until_it_is_in(tmp_path: Path) -> None:
    """Else `status` would say ready and nothing pending while the first look is under way."""
    where = place(tmp_path)
    with opened(where):
        pass
    where.write("Unseen.md", "Written while no daemon ran: promethium.\n")
    (where.vault / "Bread.md").unlink()
    with daemon(where, ready=False) as service:
        # No pause between two looks: a moment of "ready" before the first look at the vault counts.
        deadline = time.monotonic() + DEADLINE_S
        while (status := service.status()).state != "ready" or status.pending:
            assert time.monotonic() < deadline
        assert holding(service, "promethium") == {"Unseen.md"}
        wait_for(lambda: not holding(service, "dough"))


def test_saves_renames_and_deletions_show(tmp_path: Path) -> None:
    where = place(tmp_path)
    with daemon(where) as service:

        def shows(word: str, *paths: str) -> None:
            wait_for(lambda: holding(service, word) == {*paths})

        where.write("New/Edited.md", "The first word was zirconium.\n")
        where.write("Source.md", "See [[Renamed target]].\n")
        shows("zirconium", "New/Edited.md")
        where.write("New/Edited.md", "The second word is vanadium.\n")
        shows("vanadium", "New/Edited.md")
        assert holding(service, "zirconium") == set()

        (where.vault / ".Saved.tmp").write_text("By write and rename: praseodymium.\n")
        (where.vault / ".Saved.tmp").replace(where.vault / "New/Edited.md")
        shows("praseodymium", "New/Edited.md")

        assert [link.resolved for link in service.links("Source").outgoing] == [None]
        (where.vault / "New/Edited.md").rename(where.vault / "Renamed target.md")
        shows("praseodymium", "Renamed target.md")
        assert [link.resolved for link in service.links("Source").outgoing] == ["Renamed target.md"]
        assert [link.path for link in service.links("Renamed target").backlinks] == ["Source.md"]
        (where.vault / "Renamed target.md").unlink()
        shows("praseodymium")

        where.write("Fresh.md", "Contains dysprosium.\n")
        answer = service.search(SearchRequest("dysprosium", fresh=True), fresh_deadline_s=DEADLINE_S)
        assert "Fresh.md" in [hit.path for hit in answer.results]

        (where.vault / "Bad.md").write_bytes(b"caf\xe9 with holmium\n")
        wait_for(lambda: service.status().skipped)
        (skipped,) = service.status().skipped
        assert skipped.path == "Bad.md"
        assert skipped.reason.startswith("line 1: some bytes are not UTF-8"), "the path is not said twice"
        where.write("Bad.md", "café with holmium\n")
        shows("holmium", "Bad.md")
        wait_for(lambda: not service.status().skipped)

        with pytest.raises(LockedError, match=r"in use by process \d+ \(the daemon\)"), daemon(where):
            pass


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found in /proc")
def test_the_lock_is_free_though_an_edit_waits_for_its_worker(tmp_path: Path) -> None:
    where, started = place(tmp_path), StartedProcesses()
    with daemon(where, processes=True) as service:
        where.write("First.md", "Contains cerium.\n")
        wait_for(lambda: [hit.path for hit in hits(service, "cerium")][:1] == ["First.md"])
        wait_for(lambda: not service.status().pending)
        wait_for(lambda: not service.status().vectors_owed)
        for pid in started():
            os.kill(pid, signal.SIGSTOP)
        where.write("Stuck.md", "Contains holmium.\n")
        wait_for(lambda: service.status().pending)
        service.close()
        wait_for(lambda: is_free(where.index_dir))
        assert not started()


REQUESTS: dict[str, Callable[[VaultService], object]] = {
    "rebuild": lambda service: service.rebuild(silent),
    "verify": lambda service: service.verify(),
    "search": lambda service: hits(service, "bread"),
}


def test_requests_after_close_are_refused_at_once(tmp_path: Path) -> None:
    where = place(tmp_path)
    with daemon(where) as service:
        service.close()
        assert is_free(where.index_dir), "a loop that has nothing to do ends at once"
        for request in REQUESTS.values():
            with pytest.raises(UnavailableError, match=r"^the daemon was stopped$"):
                request(service)
        assert not service.wait_fresh(3600)


FULL_DEVICE = Path("/dev/full")
needs_full_device = pytest.mark.skipif(not FULL_DEVICE.exists(), reason="there is no /dev/full")


def said(service: VaultService) -> str:
    return "; ".join(service.search(SearchRequest("bread")).notices)


def delete(folder: Path) -> None:
    """At once, so that the daemon makes nothing in it meanwhile."""
    shutil.rmtree(folder.rename(folder.with_name("deleted")))


def is_told(service: VaultService, text: str) -> bool:
    return text in service.status().detail


@contextmanager
def using_the_vaults_file(where: Place) -> Iterator[tuple[VaultService, Path]]:
    """A daemon without --config: it reads the vault's own file, too."""
    options = {"index.workers": "1", "embedding.provider": "wordllama"}
    service = open_daemon(where.target(options, names_config=False))
    try:
        wait_for(lambda: service.status().state == "ready")
        yield service, where.vault / ".indexer.toml"
    finally:
        stop(service)


def test_a_broken_configuration_is_said_until_it_is_mended(where: Place) -> None:
    with using_the_vaults_file(where) as (service, file):
        mistakes = {
            '[search]\nlimit = "many"\n': "search.limit",
            "[search\n": "is not valid TOML",
            '[embedding]\nmodel = "theirs"\n': "embedding.model",
        }
        for number, (content, named) in enumerate(mistakes.items()):
            file.write_text(content)
            wait_for(partial(is_told, service, named))
            # Edits go on, and none of them makes the fault look solved.
            where.write(f"After {number}.md", f"Contains cerium{number}.\n")
            wait_for(partial(holding, service, f"cerium{number}"))
            wait_for(lambda: not service.status().pending)
            for told in (service.status().detail, said(service)):
                assert named in told and str(file) in told
                assert "\n" not in told
        file.write_text("[search]\nlimit = 3\n")
        wait_for(lambda: service.status().detail == "")
        assert "configuration" not in said(service)
        file.unlink()
        wait_for(lambda: f"the configuration {file} is gone" in said(service))
        assert service.status().state == "ready"


@needs_full_device
def test_a_full_disk_is_a_state_that_ends_by_itself(where: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    open_file, is_full = os.open, True

    def open_on_the_disk(path: str, flags: int, mode: int = 0o777, dir_fd: int | None = None) -> int:
        if is_full and str(path).startswith(".COMMIT."):  # each commit writes this file, and gets ENOSPC
            return open_file(FULL_DEVICE, os.O_WRONLY)
        return open_file(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", open_on_the_disk)
    with daemon(where) as service:
        where.write("Late.md", "Contains lanthanum.\n")
        wait_for(lambda: service.status().state == "degraded")
        where.configure(f"{WORDLLAMA}[search]\nlimit = 'many'\n")
        wait_for(lambda: "limit" in service.status().detail)
        for told in (service.status().detail, said(service)):
            assert str(where.index_dir) in told
            assert "is full" in told and "required" in told and "free" in told
            assert "rebuilt" not in told, "an index without room is not damaged"
        assert service.status().pending
        assert holding(service, "fan") == {"Oven.md"}, "searches go on"
        is_full = False
        wait_for(lambda: holding(service, "lanthanum") == {"Late.md"})
        wait_for(lambda: service.status().state == "ready" and not service.status().pending)
        assert "indexing failed" not in service.status().detail
        assert "limit" in service.status().detail, "the other fault has not ended"
        assert service.verify() == ()
        assert service.status().generation == 1


def test_an_index_that_is_deleted_is_built_again_once(where: Place) -> None:
    with daemon(where) as service:
        where.write("Kept.md", "Contains holmium.\n")
        wait_for(lambda: holding(service, "holmium"))
        delete(where.index_dir)
        wait_for(lambda: "was deleted" in service.status().detail)
        assert holding(service, "holmium") == {"Kept.md"}, "the old one answers meanwhile"
        where.write("New.md", "Contains terbium.\n")
        wait_for(lambda: service.status().state == "ready" and not service.status().pending)
        assert (where.index_dir / "CURRENT").exists()
        assert holding(service, "holmium") | holding(service, "terbium") == {"Kept.md", "New.md"}
        assert f"Index rebuilt: the index folder {where.index_dir} was deleted" in said(service)
        assert service.status().detail == ""
        assert service.verify() == ()
        assert service.failure is None

        delete(where.index_dir)
        wait_for(lambda: service.failure is not None)
        assert "a second time" in str(service.failure)
        assert str(where.index_dir) in str(service.failure)
    with opened(where) as service:  # its lock is free, and whoever comes next begins again
        assert holding(service, "terbium") == {"New.md"}


def test_a_folder_that_cannot_be_made_again_ends_the_daemon(where: Place) -> None:
    with daemon(where) as service:
        delete(where.index_dir)
        where.index_dir.write_text("not a folder")
        wait_for(lambda: isinstance(service.failure, IndexUnusableError))
        assert str(where.index_dir) in str(service.failure)


def notices(service: VaultService) -> tuple[str, ...]:
    return service.search(SearchRequest("bread")).notices


def is_up_to_date(service: VaultService) -> bool:
    return service.status().state == "ready" and not service.status().pending


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
