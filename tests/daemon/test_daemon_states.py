"""What goes wrong while the daemon runs is said until it is repaired, and each fault ends by itself."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from vault_at_work import WORDLLAMA, Place, daemon, holding, opened, stop, wait_for

from vault_indexer.bootstrap import open_daemon
from vault_indexer.errors import IndexUnusableError
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

FULL_DEVICE = Path("/dev/full")
needs_full_device = pytest.mark.skipif(not FULL_DEVICE.exists(), reason="there is no /dev/full")


def notices(service: VaultService) -> str:
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


@pytest.mark.long
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
            for told in (service.status().detail, notices(service)):
                assert named in told and str(file) in told
                assert "\n" not in told
        file.write_text("[search]\nlimit = 3\n")
        wait_for(lambda: service.status().detail == "")
        assert "configuration" not in notices(service)
        file.unlink()
        wait_for(lambda: f"the configuration {file} is gone" in notices(service))
        assert service.status().state == "ready"


@pytest.mark.long
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
        for told in (service.status().detail, notices(service)):
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


@pytest.mark.long
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
        assert f"Index rebuilt: the index folder {where.index_dir} was deleted" in notices(service)
        assert service.status().detail == ""
        assert service.verify() == ()
        assert service.failure is None

        delete(where.index_dir)
        wait_for(lambda: service.failure is not None)
        assert "a second time" in str(service.failure)
        assert str(where.index_dir) in str(service.failure)
    with opened(where) as service:  # its lock is free, and whoever comes next begins again
        assert holding(service, "terbium") == {"New.md"}


@pytest.mark.long
def test_a_folder_that_cannot_be_made_again_ends_the_daemon(where: Place) -> None:
    with daemon(where) as service:
        delete(where.index_dir)
        where.index_dir.write_text("not a folder")
        wait_for(lambda: isinstance(service.failure, IndexUnusableError))
        assert str(where.index_dir) in str(service.failure)
