"""`indexer eval` at the terminal. What it asks and answers is in `tests/evals`."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import cast

import pytest
from cli_sandbox import Sandbox

from vault_evals.questions import Question, generated_file, write_questions
from vault_evals.ranking_commands import ranking_of_run
from vault_indexer.cli.parameters import VaultSelection


def test_a_session_that_was_left_says_how_to_go_on(built: Sandbox, tmp_path: Path) -> None:
    judge = ("eval", "judge", "telescope", "--depth", "1", "--cases", str(tmp_path))
    folder = tmp_path / "ranking" / "judged"
    left = built.indexer(*judge, stdin="q\n")
    assert left.err == f"0 grades in {folder}; run it again to continue\n"
    ended = built.indexer(*judge, stdin="2\n" * 9)
    assert ended.err.endswith(f" in {folder}\n")


class EndedSelection:
    """The process gets SIGTERM as soon as somebody wants to know which vault is meant."""

    def __getattr__(self, name: str) -> object:
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError(f"{name} is read in spite of the signal")


def test_sigterm_ends_a_ranking_with_its_status_and_means_afterwards_what_it_meant(tmp_path: Path) -> None:
    write_questions(generated_file(tmp_path), [Question("q", "bread", {})])
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with pytest.raises(SystemExit) as ended:
            ranking_of_run(cast("VaultSelection", EndedSelection()), tmp_path)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended.value.code == 143
