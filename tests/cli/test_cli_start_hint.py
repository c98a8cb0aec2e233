"""The hint at `indexer start`. When a search gives it is in `test_cli_terminal.py`."""

from __future__ import annotations

from cli_sandbox import Sandbox

CODE = """
import sys
from pathlib import Path
from vault_indexer.cli.connection.start_hint import hint_at_start
for folder in ("gone", ".", "."):
    hint_at_start(Path(folder))
    print(folder, flush=True)
"""


def test_no_hint_is_given_where_it_cannot_be_remembered(sandbox: Sandbox) -> None:
    hint = "Searches are faster while the daemon runs (indexer start)."
    shown = sandbox.terminal(code=CODE).out
    assert shown.splitlines() == ["gone", hint, ".", "."]
