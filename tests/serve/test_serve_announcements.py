"""Where a server is announced, and what becomes of a folder that cannot be written or was deleted."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from vault_indexer.daemon.discovery import DaemonInfo, KeptAddress
from vault_indexer.errors import IndexUnusableError
from vault_indexer.serve.server import Announcements

INFO = DaemonInfo(os.getpid(), "http://127.0.0.1:1", "the-token", "/v", "")


def test_an_announcement_that_was_deleted_with_its_folder_is_written_again(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("kept", "made again", "gone")]
    with closing(Announcements()) as announced:
        for folder in folders:
            folder.mkdir()
            announced.add(folder, INFO)
        kept, again, gone = (folder / "daemon.json" for folder in folders)
        whole = kept.read_text("utf-8")
        kept.write_text("of another process")
        for folder in folders[1:]:
            shutil.rmtree(folder)
        folders[1].mkdir()
        announced.again()
        assert (kept.read_text("utf-8"), again.read_text("utf-8")) == ("of another process", whole)
        assert not gone.parent.exists()
    assert not again.exists()


def test_one_that_was_taken_back_is_not_written_again(tmp_path: Path) -> None:
    with closing(Announcements()) as announced:
        announced.add(tmp_path, INFO)
        announced.remove(tmp_path)
        announced.again()
        assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with closing(Announcements()) as announced:
        with pytest.raises(IndexUnusableError, match=r"cannot write .*missing/daemon\.json: No such file"):
            announced.add(missing, INFO)
        with pytest.raises(IndexUnusableError, match=r"cannot write .*missing/address\.json: No such file"):
            announced.keep(missing, KeptAddress(1, "the-token"))
        missing.mkdir()
        announced.again()
        assert (missing / "daemon.json").exists()
