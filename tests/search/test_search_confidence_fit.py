"""The constants of the relevance are those that the script fits to its table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vault_indexer.search.confidence import RELEVANCE

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "confidence_fit.py"


@pytest.mark.long
def test_the_map_is_that_of_the_fit() -> None:
    ran = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == [str(RELEVANCE)]
