"""Grading notes at the terminal (`indexer eval judge`). The questions are asked in `tests/evals`."""

from __future__ import annotations

from pathlib import Path

from cli_sandbox import Sandbox


def test_a_session_that_was_left_says_how_to_go_on(indexed: Sandbox, tmp_path: Path) -> None:
    judge = ("eval", "judge", "telescope", "--depth", "1", "--cases", str(tmp_path))
    folder = tmp_path / "ranking" / "judged"
    left = indexed.indexer(*judge, stdin="q\n")
    assert left.err == f"0 grades in {folder}; run it again to go on\n"
    ended = indexed.indexer(*judge, stdin="2\n" * 9)
    assert ended.err.endswith(f" in {folder}\n")
