"""The daemon's first index of a vault that takes longer than anybody wants to wait."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from vault_at_work import Place, daemon, holding, opened, place, wait_for

WORDS = "the ferry leaves the harbour at noon and comes back with the evening tide "
NOTES = 90


@pytest.mark.slow
def test_what_changed_last_is_found_while_the_rest_is_read(tmp_path: Path) -> None:
    large = {f"Log {n:02}.md": f"# Day {n}\n\nmark{n}: [[Log 00]]\n\n" + WORDS * 1300 for n in range(NOTES)}
    where = place(tmp_path, large)
    for n in range(NOTES):
        os.utime(where.vault / f"Log {n:02}.md", (n, n))
    with daemon(where, ready=False) as service:
        wait_for(lambda: service.status().counts.notes and service.status().pending)
        assert (first := service.status()).counts.notes < NOTES / 2
        assert first.state == "indexing"
        assert holding(service, f"mark{NOTES - 1}") == {f"Log {NOTES - 1}.md"}
        wait_for(lambda: service.status().state == "ready" and service.status().pending == 0)
        assert service.verify() == ()
        grown = list(service.export())
    with opened(Place(where.vault, tmp_path / "fresh", where.config)) as service:
        assert grown == list(service.export())
