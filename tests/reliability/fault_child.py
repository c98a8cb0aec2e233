"""Makes one edit commit under injected faults. Reads lines of vault and index; for each a fork opens it, says
"ready PID", waits for "go", brings the index in step with the vault, and says what became of it."""

import hashlib
import os
import sys
from pathlib import Path

from reliability_lab import Told, assembly_of, told_by

from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.errors import VaultIndexerError


def digest(told: Told) -> str:
    """One line for what an index tells; which vectors there are, the export's digests say."""
    plain = (told.export, [sorted(places) for places in told.words], [len(near) for near in told.nearest])
    return hashlib.sha256(repr(plain).encode()).hexdigest()


def say(*words: object) -> None:
    """In one system call: what is said is said whole, or not at all."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def edit(vault: Path, index: Path) -> None:
    session = LocalSession(assembly_of(vault, index))
    session.open_as_is()
    told_by(session)  # whatever is loaded late is loaded now
    say("ready", os.getpid())
    os.read(0, 16)
    for attempt in ("done", "recovered"):
        try:
            session.wait_fresh(0)
        except (VaultIndexerError, OSError) as error:
            print("failed:", error, file=sys.stderr, flush=True)
            continue
        say(attempt, digest(told_by(session)))
        return
    say("failed twice")


def main() -> None:
    while line := os.read(0, 4096).decode().split("\n")[0]:
        vault, index = line.split("\t")
        child = os.fork()
        if child == 0:
            edit(Path(vault), Path(index))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        say("ended", status)


if __name__ == "__main__":
    main()
