"""The first edit after a start waits for no import: what it needs is loaded before."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def imported(tmp_path: Path) -> dict[str, list[str]]:
    """By process, what the first edit imports."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Note.md").write_text("# Note\n\nSomething.\n", "utf-8")
    script = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from pathlib import Path; import first_edit_child\n"
        f"first_edit_child.main(*map(Path, {[str(tmp_path / 'vault'), str(tmp_path / 'index')]!r}))"
    )
    environ = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environ, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.long
def test_the_first_edit_imports_nothing(imported: dict[str, list[str]]) -> None:
    assert imported == {"daemon": [], "worker": []}
