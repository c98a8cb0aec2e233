"""When a file was created."""

import os
import time
from pathlib import Path

import pytest

from vault_indexer.system import creation_time


@pytest.mark.portable
def test_a_file_was_created_before_it_was_changed(tmp_path: Path) -> None:
    before = time.time()
    note = tmp_path / "Zürich.md"
    note.write_text("Text.")
    created = creation_time(note)
    os.utime(note, (before + 1e6, before + 1e6))
    assert creation_time(note) == created
    assert before - 5 < created < time.time() + 5
    with pytest.raises(FileNotFoundError):
        creation_time(tmp_path / "None.md")
