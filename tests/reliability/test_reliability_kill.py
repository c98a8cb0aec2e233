"""kill -9 at any moment: nothing acknowledged is missing, and the healed index equals a fresh one."""

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from reliability_lab import (
    assembly_of,
    assert_equal,
    child_environment,
    make_vault,
    opened,
    sized,
    told_by,
    told_by_a_fresh_build,
)

from vault_indexer.daemon.local_session import LocalSession

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


def killed_while_it_works(mode: str, vault: Path, index: Path, rng: random.Random) -> list[str]:
    """What the child acknowledged before it was killed, at a random moment after its beginning."""
    command = [
        sys.executable,
        str(HERE / "crash_child.py"),
        mode,
        str(vault),
        str(index),
        str(rng.random())[2:],
    ]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=child_environment())
    assert child.stdout is not None
    said: list[str] = []
    wait_for = 1 if mode == "build" or rng.random() < 0.15 else 2
    while len(said) < wait_for and (line := child.stdout.readline()):
        said.append(line)
    assert said, "the child did not even begin"
    timer = threading.Timer(rng.uniform(0, 1.2 if mode != "build" else 2.5), child.kill)
    timer.start()
    said += child.stdout.readlines()
    status = child.wait()
    timer.cancel()
    assert status in (-signal.SIGKILL, 0), "the child failed by itself: " + "".join(said[-3:])
    return [line for line in said if line.startswith("ack") and line.endswith("\n")]


def assert_acknowledged(acks: list[str], vault: Path, index: Path) -> None:
    """Before anything is looked at again: the state on disk is the last acknowledged one, or a later one."""
    if not acks:
        return
    _, seq, generation, *proof = acks[-1].split()
    session = LocalSession(assembly_of(vault, index))
    try:
        kept, _ = session.open_as_is()
        assert kept.current is not None, "the acknowledged index cannot be opened"
        with kept.current.writer.holder.lease() as snapshot:
            newer = snapshot.generation > int(generation)
            assert newer or (snapshot.generation == int(generation) and snapshot.seq >= int(seq))
            if proof and snapshot.seq == int(seq) and not newer:
                note = snapshot.catalog.note("proof.md")
                assert note is not None
                assert proof[0] in snapshot.catalog.text(note.note_id)
            assert set(snapshot.keywords.keys.tolist()) == snapshot.catalog.chunk_keys()
    finally:
        session.close()


def integrity(index: Path) -> list[str]:
    """SQLite's own verdict, before the index heals anything."""
    told = []
    for catalog in sorted(index.glob("generations/[0-9][0-9][0-9][0-9]/catalog.db")):
        database = sqlite3.connect(f"{catalog.as_uri()}?mode=ro", uri=True)
        told += [row[0] for row in database.execute("PRAGMA integrity_check")]
        database.close()
    return told


@pytest.mark.parametrize(("mode", "rounds"), [("edit", 6), ("workers", 2), ("build", 2), ("publish", 3)])
def test_nothing_acknowledged_is_lost(mode: str, rounds: int, tmp_path: Path) -> None:
    full = {"edit": 100, "workers": 20, "build": 40, "publish": 40}[mode]
    rng = random.Random(mode)
    acknowledged = 0
    for number in range(sized(rounds, full)):
        vault, index = tmp_path / "vault", tmp_path / "index"
        if number % 5 == 0 or mode == "build":
            shutil.rmtree(vault, ignore_errors=True)
            shutil.rmtree(index, ignore_errors=True)
            make_vault(vault, rng, 80 if mode == "build" else 20)
        acks = killed_while_it_works(mode, vault, index, rng)
        acknowledged += len(acks)
        assert all(verdict == "ok" for verdict in integrity(index)), f"round {number}"
        assert_acknowledged(acks, vault, index)
        with opened(assembly_of(vault, index)) as session:
            found = told_by(session)
            assert session.verify(repair=False) == ()
        assert_equal(found, told_by_a_fresh_build(vault, tmp_path / f"fresh{number}"))
        shutil.rmtree(tmp_path / f"fresh{number}")
        print(f"{mode}: {number + 1} rounds, {acknowledged} acknowledged")
    assert acknowledged or mode == "build", "the kills came too early to prove anything"
