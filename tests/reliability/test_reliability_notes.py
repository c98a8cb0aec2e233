"""Dangerous notes: they cost a worker at most, are named, and are tried again when they change."""

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from reliability_lab import assembly_of, make_vault, opened, told_by, told_by_a_fresh_build, unheard

from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.index.jobs import ENDED_TWICE, NoteWorker, Pool
from vault_indexer.index.note_workers import WorkerSpec, make_preparer
from vault_indexer.index.reading import Parsed, Preparer, Skipped
from vault_indexer.index.workers.budget import NoteMeter
from vault_indexer.index.workers.pool import WorkerPool
from vault_indexer.system.processes import own_usage

pytestmark = pytest.mark.slow

MARK = "this kills the parser"


class Fragile:
    """A preparer whose parser dies of a marked note, as native code does: without an exception."""

    def __init__(self, sound: Preparer, vault: Path) -> None:
        self._sound = sound
        self._vault = vault
        self.embed, self.quarantine, self.warm = sound.embed, sound.quarantine, sound.warm

    def parse(self, path: str, *, ask: bool = True) -> Parsed | Skipped:
        if MARK in (self._vault / path).read_text(encoding="utf-8", errors="replace"):
            os.abort()
        return self._sound.parse(path, ask=ask)


def fragile_preparer(worker: WorkerSpec) -> Preparer:
    return cast(Preparer, Fragile(make_preparer(worker, NoteMeter(own_usage)), worker.vault))


def fragile_worker(worker: WorkerSpec) -> NoteWorker:
    return NoteWorker(partial(fragile_preparer, worker))


def fragile_pool(worker: WorkerSpec, size: int) -> Pool:
    """Real worker processes, but for the parser in them."""
    return WorkerPool(size, partial(fragile_worker, worker))


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault", random.Random(9), 12)


@pytest.fixture
def session(vault: Path, tmp_path: Path) -> Iterator[LocalSession]:
    (vault / "bad.md").write_text(f"# Bad\n\n{MARK}\n", encoding="utf-8")
    assembly = replace(assembly_of(vault, tmp_path / "index"), make_pool=fragile_pool)
    made = LocalSession(assembly)
    try:
        made.open(unheard, build=True)
        yield made
    finally:
        made.close()


def quarantine(session: LocalSession) -> list[str]:
    return [skipped.path for skipped in session.status().skipped if skipped.reason == ENDED_TWICE]


def test_a_note_that_kills_the_parser_costs_only_itself(session: LocalSession, vault: Path) -> None:
    assert quarantine(session) == ["bad.md"]
    assert session.status().counts.notes == 12
    # It is named and not tried again: a look that finds nothing new commits nothing.
    session.wait_fresh(0)
    seq = session.status().seq
    session.wait_fresh(0)
    assert session.status().seq == seq
    # Others are indexed as if it were not there, also in the same batch.
    (vault / "worse.md").write_text(f"# Worse\n\n{MARK}\n", encoding="utf-8")
    (vault / "good.md").write_text("# Good\n\n[[bad]] kestrel\n", encoding="utf-8")
    session.wait_fresh(0)
    assert quarantine(session) == ["bad.md", "worse.md"]
    with session.reader().holder.lease() as snapshot:
        assert snapshot.catalog.note("good.md") is not None
        assert [link.resolved for link in snapshot.catalog.links_from("good.md")] == ["bad.md"]
    # It is tried again as soon as it is another.
    (vault / "bad.md").write_text("# Better\n\nharmless\n", encoding="utf-8")
    session.wait_fresh(0)
    assert quarantine(session) == ["worse.md"]
    # And a note that was good is taken out when it turns bad.
    (vault / "good.md").write_text(f"# Good\n\n{MARK}\n", encoding="utf-8")
    session.wait_fresh(0)
    assert quarantine(session) == ["good.md", "worse.md"]
    with session.reader().holder.lease() as snapshot:
        assert snapshot.catalog.note("good.md") is None


DANGEROUS: dict[str, bytes] = {
    "yaml bomb.md": b"---\na: &a [x,x,x,x,x,x,x,x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (n, n, b",".join([b"*%c" % (n - 1)] * 8)) for n in range(98, 108))
    + b"---\n\nkestrel\n",
    "yaml depth.md": b"---\na: " + b"[" * 60_000 + b"\n---\n\nkestrel\n",
    "yaml long.md": b"---\na: " + b"x" * 200_000 + b"\n---\n\nkestrel\n",
    "yaml tag.md": b"---\na: !!python/object/apply:os.system ['false']\n---\n\nkestrel\n",
    "brackets.md": b"[[" * 40_000,
    "half links.md": b"[[a|" * 20_000 + b"]]",
    "images.md": b"![](" * 5_000,
    "quotes.md": b">" * 20_000 + b" deep",
    "lists.md": b"".join(b" " * n + b"- x\n" for n in range(1500)),
    "emphasis.md": b"*a_ " * 15_000,
    "backticks.md": b"".join(b"`" * n + b" " for n in range(400)),
    "html.md": b"<div>" * 15_000,
    "table.md": b"|" * 30_000 + b"\n" + b"|-" * 15_000 + b"\n",
    "nul.md": b"a\0b\0" * 5_000,
    "no newline.md": b"x" * 1_000_000,
    "controls.md": bytes(range(256)) * 400,
    "headings.md": b"# h\n" * 3_000,
    "tags.md": b"#a/" * 30_000,
    "mathematics.md": b"$$" * 30_000,
    "comments.md": b"%%" * 30_000,
    "large.md": b"# Large\n\n" + b"kestrel " * 700_000,
    "cards.canvas": b'{"nodes":[' + b'{"a":[' * 20_000,
}


def test_no_dangerous_note_stops_the_others(vault: Path, tmp_path: Path) -> None:
    for name, content in DANGEROUS.items():
        (vault / name).write_bytes(content)
    (vault / "loop").symlink_to(vault)
    (vault / "self.md").symlink_to(vault / "self.md")
    (vault / "out.md").symlink_to("/etc/hostname")
    deep = vault.joinpath(*(["d"] * 60))
    deep.mkdir(parents=True)
    (deep / "bottom.md").write_text("# Bottom\n\nkestrel\n", encoding="utf-8")
    with opened(assembly_of(vault, tmp_path / "index")) as session:
        status = session.status()
        skipped = {one.path: one.reason for one in status.skipped}
        assert {"loop", "self.md", "out.md", "large.md"} <= set(skipped)
        assert status.counts.notes + sum(name in skipped for name in DANGEROUS) == 12 + 1 + len(DANGEROUS)
        told = told_by(session)
        assert session.verify(repair=False) == ()
    assert told.export == told_by_a_fresh_build(vault, tmp_path / "fresh").export


def test_a_note_that_nobody_may_read_is_named_and_tried_again(vault: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is unreadable to root")
    note = next(vault.glob("*.md"))
    with opened(assembly_of(vault, tmp_path / "index")) as session:
        note.chmod(0)
        note.touch()
        session.wait_fresh(0)
        assert note.name in {skipped.path for skipped in session.status().skipped}
        note.chmod(0o600)
        session.wait_fresh(0)
        assert session.status().skipped == ()
