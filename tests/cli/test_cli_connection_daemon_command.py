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
from golden_cases import check_golden, of_parts

from vault_indexer.cli.connection.daemon_command import HINT_FILE, hint_at_start, place_options
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import is_pinned


@pytest.mark.posix("paths with slashes")
def test_what_was_named_is_named_to_the_daemon_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def named(options: str, variables: str) -> str:
        given = {name: Path(value) for name, _, value in (one.partition("=") for one in options.split())}
        selection = VaultSelection(**given)
        environ = {name: value for name, _, value in (one.partition("=") for one in variables.split())}
        found = place_options(selection, None, environ)
        assert place_options(selection, Path("Notes"), environ) == [
            "--vault",
            str(tmp_path / "Notes"),
            *found,
        ]
        pinned = "for this command alone" if is_pinned(selection, environ) else "for all"
        return f"{pinned} {' '.join(found)}".replace(str(tmp_path), "/here")

    check_golden(Path(__file__).parent / "fixtures" / "places.md", {"": of_parts(named)})


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
