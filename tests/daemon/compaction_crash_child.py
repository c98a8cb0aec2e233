"""The process that is killed during a compaction: `python compaction_crash_child.py STEP VAULT INDEX`. It
edits a note before the compaction and another while it is under way, says what it did, and kills itself
after STEP."""

import os
import signal
import sys
from pathlib import Path

from reliability_lab import assembly_of

from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.index.derived import use_next_base
from vault_indexer.index.workers.pool import JobWorker

STEPS = ("half written", "written", "edited", "loaded", "renamed", "adopted")


def main(last: str, vault: Path, index: Path) -> None:
    def done(step: str) -> None:
        if step == last:
            os.kill(os.getpid(), signal.SIGKILL)

    session = LocalSession(assembly_of(vault, index))
    kept, _ = session.open_as_is()
    assert kept.current is not None
    writer, generation = kept.current.writer, kept.current.generation
    (vault / "before.md").write_text("# Before\n\nQuartz before the compaction.\n")
    kept.sync([""])
    job = writer.derived.begin_compaction()
    assert JobWorker().handle(job) is None
    if last == "half written":
        whole = generation.next_vectors.read_bytes()
        generation.next_vectors.unlink()
        generation.folder.joinpath(".vectors.faiss.next.0123456789abcdef.tmp").write_bytes(
            whole[: len(whole) // 2]
        )
    done("half written")
    done("written")
    (vault / "during.md").write_text("# During\n\nMarble during the compaction.\n")
    (vault / "before.md").unlink()
    kept.sync([""])
    print("ack", flush=True)
    done("edited")
    made = writer.derived.load_next_base()
    done("loaded")
    if last == "renamed":
        use_next_base(generation)
    done("renamed")
    assert writer.derived.adopt_base(made)
    done("adopted")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
