"""The process that is killed: it works on an index and says, flushed, what is done. `python crash_child.py
MODE VAULT INDEX SEED`; modes: edit (all in one process), workers (as a command does it), build, publish."""

import random
import shutil
import sys
from pathlib import Path

from file_operations import do_one
from reliability_lab import OPTIONS, assembly_of, unheard

from vault_indexer.bootstrap import resolve_target
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.local_session import LocalSession


def say(*words: object) -> None:
    print(*words, flush=True)


def main(mode: str, vault: Path, index: Path, seed: int) -> None:
    rng = random.Random(seed)
    assembly: Assembly = assembly_of(vault, index)
    if mode == "workers":
        assembly = Assembly.of(resolve_target(vault, index, None, environ={}, options=OPTIONS))
    say("begin")
    session = LocalSession(assembly)
    session.open(unheard, build=True)
    say("ack", session.status().seq, session.status().generation, "")
    while True:
        if mode == "publish":
            session.rebuild(unheard, RebuildOptions(refit=False))
        if mode == "build":
            session.close()
            return
        # The note that proves it: what it says last was acknowledged, or is newer than that.
        number = rng.randrange(10**9)
        note = vault / "proof.md"
        if note.is_dir():  # an operation has made one of it
            shutil.rmtree(note)
        note.write_text(f"# Proof\n\nproof{number} of kestrel\n", encoding="utf-8")
        for _ in range(rng.randint(0, 3)):
            do_one(vault, rng)
        session.wait_fresh(0)
        status = session.status()
        # One of the operations may have changed that note, too.
        held = note.is_file() and f"proof{number} " in note.read_text(encoding="utf-8", errors="replace")
        say("ack", status.seq, status.generation, f"proof{number}" if held else "")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
