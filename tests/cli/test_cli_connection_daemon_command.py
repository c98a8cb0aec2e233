"""The options with which a command starts a daemon of its own place."""

from __future__ import annotations

import os
import time
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from answering_daemon import answering_daemon
from command_here import TerminalText

from vault_indexer.cli.connection.daemon_command import HINT_FILE, hint_at_start, place_options
from vault_indexer.cli.parameters import VaultSelection


@pytest.mark.parametrize(
    ("selection", "environ", "expected"),
    [
        (VaultSelection(), {}, []),
        (VaultSelection(index_dir=Path("i")), {}, ["--index-dir", "{here}/i"]),
        (VaultSelection(), {"INDEXER_INDEX_DIR": "j"}, ["--index-dir", "{here}/j"]),
        (VaultSelection(index_dir=Path("i")), {"INDEXER_INDEX_DIR": "j"}, ["--index-dir", "{here}/i"]),
        (VaultSelection(config=Path("c")), {"INDEXER_CONFIG": "d"}, ["--config", "{here}/c"]),
        (VaultSelection(), {"INDEXER_CONFIG": "/d"}, ["--config", "/d"]),
    ],
)
def test_what_was_named_is_named_to_the_daemon_in_full(
    selection: VaultSelection, environ: dict[str, str], expected: list[str]
) -> None:
    here = str(Path.cwd())
    assert place_options(selection, None, environ) == [one.replace("{here}", here) for one in expected]
    vault = ["--vault", f"{here}/Notes"]
    assert place_options(selection, Path("Notes"), environ)[:2] == vault


HINT = "Searches are faster while the daemon runs (indexer start).\n"


def hinted(folder: Path, out: StringIO | None = None, err: StringIO | None = None) -> str:
    """What is said on standard error; both streams are a terminal unless another is given."""
    said = err or TerminalText()
    with redirect_stdout(out or TerminalText()), redirect_stderr(said):
        hint_at_start(folder)
    return said.getvalue()


@pytest.mark.parametrize(
    ("hours", "said"), [(0, ""), (23.9, ""), (24.1, HINT), (1000, HINT), (-23.9, ""), (-24.1, HINT)]
)
def test_the_hint_is_given_once_a_day(tmp_path: Path, hours: float, said: str) -> None:
    assert hinted(tmp_path) == HINT
    before = time.time() - hours * 60 * 60
    os.utime(tmp_path / HINT_FILE, (before, before))
    assert hinted(tmp_path) == said
    assert hinted(tmp_path) == "", "it is remembered"


def test_only_a_person_at_a_terminal_is_told(tmp_path: Path) -> None:
    assert hinted(tmp_path, out=StringIO()) == ""
    assert hinted(tmp_path, err=StringIO()) == ""
    assert list(tmp_path.iterdir()) == []


def test_with_a_daemon_there_is_no_hint(tmp_path: Path) -> None:
    with answering_daemon() as daemon:
        daemon.announce(tmp_path, "/v")
        assert hinted(tmp_path) == ""
    assert not (tmp_path / HINT_FILE).exists()
