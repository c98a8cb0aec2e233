"""The files of types are those that the dataclasses of the answers give."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

FILES = runpy.run_path(str(Path(__file__).parents[2] / ".ci" / "api_types.py"))["FILES"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_generated_file_is_up_to_date(file: Path) -> None:
    text = FILES[file]()
    if file.suffix == ".py":
        ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(file), "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout
    assert file.read_text(encoding="utf-8") == text, "run: make api-types"
