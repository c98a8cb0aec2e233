"""Killed at any moment, the index opens with every acknowledged commit whole."""

import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from vault_indexer.store.keywords.index import KeywordIndex
from vault_indexer.store.keywords.schema import FieldWeights
from vault_indexer.text.terms import QueryTerm

pytestmark = pytest.mark.long

WRITER = (Path(__file__).parent / "fixtures" / "committing.py.txt").read_text("utf-8")


def keys_after(seq: int) -> set[int]:
    """What the writer's index holds once `seq` is applied."""
    return {one * 10 + n for one in range(max(1, seq - 3), seq + 1) for n in range(5)}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 6))])
def test_acknowledged_commits_survive_a_kill(tmp_path: Path, seed: int) -> None:
    folder = tmp_path / "keywords"
    KeywordIndex.create(folder)
    delays = random.Random(seed)
    for _ in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        acknowledged = int(writer.stdout.readline())
        killer = threading.Timer(delays.uniform(0.0, 0.25), writer.kill)
        killer.start()
        acknowledged = max([acknowledged, *map(int, writer.stdout.read().split())])
        writer.wait()
        writer.stdout.close()

        index = KeywordIndex.open(folder)
        assert index.applied_seq in (acknowledged, acknowledged + 1)
        assert index.keys() == keys_after(index.applied_seq)
        found = index.snapshot().search([QueryTerm.plain("common")], FieldWeights(), 1000)
        assert set(found.keys.tolist()) == index.keys()
